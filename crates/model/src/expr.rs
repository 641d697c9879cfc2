//! Expressions and types as facts hold them: structure, and no syntax.
//!
//! Extraction has the tree at hand, so it lowers each expression that rules may ask about into an arena of the file
//! ([`crate::FileFacts::exprs`]): what stands before a dot, what a name is declared as, what it gets as its value. Equal
//! expressions are one entry, and parts stand before what they are part of. Which local name is meant is known where the
//! expression stands, so it is written down with the name. One vocabulary serves values and types, since in many a language
//! `f(x)` may be a call or a conversion, and `a[b]` an element or a generic with its argument.

use serde::{Deserialize, Serialize};

use crate::{FileFacts, Part, Span};

/// An index into [`FileFacts::exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExprId(pub u32);

impl ExprId {
    /// The number by which [`Expr::ParamOf`] asks for what a function is called on.
    pub const RECEIVER: u32 = u32::MAX;
}

/// An expression or a type. Names are indices into [`FileFacts::names`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// As it is written, on one line: of a language whose rules still read text.
    Text(u32),
    /// A name that stands alone.
    Name {
        /// The name; a blank in it says that a type is meant, or what has names in it.
        name: u32,
        /// What it means as far as the file's own blocks say.
        seen: Seen,
    },
    /// `of.name`.
    Member {
        /// What stands before the name.
        of: ExprId,
        /// The name.
        name: u32,
    },
    /// A call, or a conversion that looks like one.
    Call {
        /// What is called.
        callee: ExprId,
        /// What it is given.
        args: Box<[ExprId]>,
    },
    /// `of[by]`: an element, or a generic with its arguments where the syntax does not tell them apart.
    Index {
        /// What is indexed.
        of: ExprId,
        /// What stands in the brackets.
        by: Box<[ExprId]>,
    },
    /// A generic with its arguments.
    Apply {
        /// The generic.
        of: ExprId,
        /// The arguments.
        args: Box<[ExprId]>,
    },
    /// Some elements of a list, as a list.
    Slice(ExprId),
    /// A value of a type that is written in front of it: `T{…}`.
    New(ExprId),
    /// A value that is said to be of this type.
    Cast(ExprId),
    /// One value, or type, seen in another way.
    Wrap {
        /// In which way.
        how: Wrap,
        /// The value or type.
        of: ExprId,
    },
    /// A part of a value.
    Part {
        /// The value.
        of: ExprId,
        /// Which part.
        part: Part,
    },
    /// The type of lists of this one.
    List(ExprId),
    /// The type of maps.
    Map {
        /// The type of keys.
        key: ExprId,
        /// The type of values.
        value: ExprId,
    },
    /// The type of functions.
    Func(Box<FuncExpr>),
    /// A function without a name, of a type.
    Lambda(ExprId),
    /// A type that is written out where it is used: its members are the symbols in these bytes.
    Inline(Span),
    /// A literal.
    Literal(Literal),
    /// Nothing that any rule reads.
    Other,
    /// The value that a function is called on.
    This,
    /// The same, seen as what its type is made from.
    Super,
    /// One of these values; all of them are alike.
    Either(Box<[ExprId]>),
    /// A function without a name, with so many parameters and what it gives back.
    Closure {
        /// How many parameters.
        params: u32,
        /// What it gives back.
        back: Option<ExprId>,
    },
    /// What a function wants for one of its arguments.
    Argument {
        /// The function.
        callee: ExprId,
        /// How many arguments the call has.
        arity: u32,
        /// Those before it.
        given: Box<[ExprId]>,
    },
    /// A parameter of what is wanted, which is a function.
    ParamOf {
        /// What is wanted.
        of: ExprId,
        /// Which parameter, from 0.
        at: u32,
    },
    /// What a module gives that is loaded by this name.
    Module(u32),
}

/// What a function takes and gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FuncExpr {
    /// The types of its parameters.
    pub params: Vec<ExprId>,
    /// Whether the last parameter takes any number of values; its type is that of the list.
    pub variadic: bool,
    /// How many of its parameters have a value of their own, so that a call may leave them out.
    pub optional: u32,
    /// Whether the first parameter is what it is called on.
    pub on_first: bool,
    /// The types of what it gives back.
    pub results: Vec<ExprId>,
}

/// What a name that stands alone means, as far as the blocks around it say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Seen {
    /// They say nothing: it comes from the file, its unit, an import, or from everywhere.
    Nowhere,
    /// A local name, as an index into [`FileFacts::bindings`].
    Local(u32),
    /// A symbol that is declared in a block, as an index into [`FileFacts::symbols`].
    Symbol(u32),
}

/// How a value or type is seen in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Wrap {
    /// What it points to; of a type, the type of pointers to it.
    Deref,
    /// A pointer to it.
    Ref,
    /// The type of channels of it.
    Channel,
}

/// The kinds of literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Literal {
    /// A text.
    Text,
    /// A whole number.
    Int,
    /// A number with a fraction.
    Float,
    /// A character.
    Char,
    /// True or false.
    Bool,
    /// Nothing.
    Null,
}

impl FileFacts {
    /// An expression; [`Expr::Other`] for an id that the file does not have.
    pub fn expr(&self, id: ExprId) -> &Expr {
        self.exprs.get(id.0 as usize).unwrap_or(&Expr::Other)
    }

    /// A name of the file; empty for an index that it does not have.
    pub fn name(&self, at: u32) -> &str {
        self.names.get(at as usize).map_or("", String::as_str)
    }

    /// The text of an expression that was not lowered; empty for any other.
    pub fn written(&self, id: ExprId) -> &str {
        match self.expr(id) {
            Expr::Text(at) => self.name(*at),
            _ => "",
        }
    }

    /// The name that a type is known by: `Map` of `*sync.Map[K, V]`.
    pub fn head_name(&self, id: ExprId) -> Option<&str> {
        let mut id = id;
        // Parts stand before what they are part of: facts that say otherwise must not lead in circles.
        loop {
            let of = match self.expr(id) {
                Expr::Name { name, .. } | Expr::Member { name, .. } => return Some(self.name(*name).trim_start()),
                Expr::Apply { of, .. } | Expr::Index { of, .. } | Expr::Wrap { of, .. } => *of,
                _ => return None,
            };
            id = Some(of).filter(|of| *of < id)?;
        }
    }

    /// An expression as people read it.
    pub fn shown(&self, id: ExprId) -> String {
        let mut out = String::new();
        self.show(id, &mut out);
        out
    }

    fn show(&self, id: ExprId, out: &mut String) {
        /// Longer texts are cut.
        const MOST: usize = 400;
        if out.len() > MOST {
            return;
        }
        // A part stands before what it is part of: facts that say otherwise must not lead in circles.
        let below = |of: ExprId, out: &mut String| {
            if of < id {
                self.show(of, out);
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
                    Part::Field(name) => format!("#{}", self.name(*name)),
                    Part::Index(at) => format!("#{at}"),
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
        }
    }
}
