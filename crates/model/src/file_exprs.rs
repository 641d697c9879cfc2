//! Access to the expressions and names of a file.

use crate::{Expr, ExprId, FileFacts, Literal, ValuePart, Wrap};

impl FileFacts {
    /// Returns an expression; [`Expr::Other`] for an id that the file does not have.
    pub fn expr(&self, id: ExprId) -> &Expr {
        self.exprs.get(id.0 as usize).unwrap_or(&Expr::Other)
    }

    /// Returns a name of the file; empty for an index that it does not have.
    pub fn name(&self, at: u32) -> &str {
        self.names.get(at as usize).map_or("", String::as_str)
    }

    /// Returns the text of an expression that was not lowered; empty for any other.
    pub fn raw_text(&self, id: ExprId) -> &str {
        match self.expr(id) {
            Expr::Text(at) => self.name(*at),
            _ => "",
        }
    }

    /// Returns the name by which a type is known: `Map` for `*sync.Map[K, V]`.
    pub fn head_name(&self, id: ExprId) -> Option<&str> {
        let mut id = id;
        // Operands come before the expressions that use them. Corrupt facts must not cause an endless loop.
        loop {
            let of = match self.expr(id) {
                Expr::Name { name, .. } | Expr::Member { name, .. } => return Some(self.name(*name).trim_start()),
                Expr::Apply { of, .. } | Expr::Index { of, .. } | Expr::Wrap { of, .. } => *of,
                _ => return None,
            };
            id = Some(of).filter(|of| *of < id)?;
        }
    }

    /// Renders an expression for people.
    pub fn render_expr(&self, id: ExprId) -> String {
        let mut out = String::new();
        self.write_expr(id, &mut out);
        out
    }

    fn write_expr(&self, id: ExprId, out: &mut String) {
        /// Longer texts are truncated.
        const MAX_RENDERED_BYTES: usize = 400;
        if out.len() > MAX_RENDERED_BYTES {
            return;
        }
        // Operands come before the expressions that use them. Corrupt facts must not cause an endless loop.
        let below = |of: ExprId, out: &mut String| {
            if of < id {
                self.write_expr(of, out);
            }
        };
        let list = |all: &[ExprId], out: &mut String| {
            for (n, one) in all.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                below(*one, out);
            }
        };
        let around = |open: &str, of: ExprId, close: &str, out: &mut String| {
            out.push_str(open);
            below(of, out);
            out.push_str(close);
        };
        match self.expr(id) {
            Expr::Text(at) => out.push_str(self.name(*at)),
            Expr::Name { name, .. } => out.push_str(self.name(*name).trim_start()),
            Expr::Member { of, name } => {
                below(*of, out);
                out.push('.');
                out.push_str(self.name(*name));
            }
            Expr::Call { callee, args } => {
                around("", *callee, "(", out);
                list(args, out);
                out.push(')');
            }
            Expr::Index { of, by: args } | Expr::Apply { of, args } => {
                around("", *of, "[", out);
                list(args, out);
                out.push(']');
            }
            Expr::Slice(of) => around("", *of, "[:]", out),
            Expr::New(of) => around("", *of, "{…}", out),
            Expr::Cast(to) => around("(… as ", *to, ")", out),
            Expr::Wrap { how: Wrap::Deref, of } => around("*", *of, "", out),
            Expr::Wrap { how: Wrap::Ref, of } => around("&", *of, "", out),
            Expr::Wrap { how: Wrap::Channel, of } => around("chan ", *of, "", out),
            Expr::Part { of, part } => {
                below(*of, out);
                out.push_str(&match part {
                    ValuePart::Field(name) => format!("#{}", self.name(*name)),
                    ValuePart::Index(at) => format!("#{at}"),
                    part => format!("#{part:?}").to_lowercase(),
                });
            }
            Expr::List(of) => around("[]", *of, "", out),
            Expr::Map { key, value } => {
                around("map[", *key, "]", out);
                below(*value, out);
            }
            Expr::Func(of) => {
                out.push_str("func(");
                list(&of.params, out);
                out.push_str(if of.variadic { "...) (" } else { ") (" });
                list(&of.results, out);
                out.push(')');
            }
            Expr::Lambda(of) => around("", *of, " {…}", out),
            Expr::Inline(_) => out.push_str("{…}"),
            Expr::Literal(of) => out.push_str(match of {
                Literal::Text => "\"…\"",
                Literal::Int => "0",
                Literal::Float => "0.0",
                Literal::Char => "'…'",
                Literal::Bool => "true",
                Literal::Null => "nil",
            }),
            Expr::Other => out.push('…'),
            Expr::This => out.push_str("this"),
            Expr::Super => out.push_str("super"),
            Expr::Either(of) => {
                out.push('(');
                list(of, out);
                out.push(')');
            }
            Expr::Closure { params, back } => {
                out.push_str(&format!("λ{params}"));
                if let Some(back) = back {
                    around("(", *back, ")", out);
                }
            }
            Expr::Argument { callee, given, .. } => around("", *callee, &format!("(#{})", given.len()), out),
            Expr::ParamOf { of, at } => around("", *of, &format!("#{at}"), out),
            Expr::Module(name) => out.push_str(&format!("module {}", self.name(*name))),
            Expr::Tuple(of) => {
                out.push('(');
                list(of, out);
                out.push(')');
            }
            Expr::Path { of, name } => {
                around("", *of, "::", out);
                out.push_str(self.name(*name));
            }
            Expr::Hole(name) => out.push_str(&format!("${}", self.name(*name))),
            Expr::Expand(call) => around("", call.path, "!(…)", out),
            Expr::Rules(rules) => {
                out.push_str("macro");
                for rule in rules {
                    out.push_str(" => ");
                    match rule.value {
                        Some(value) => below(value, out),
                        None => out.push('…'),
                    }
                }
            }
        }
    }
}
