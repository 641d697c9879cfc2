// TruthJava: definitions, references and call sites of a Java repository as javac sees them, in the format of score.py.
//
//   javac -d OUT TruthJava.java
//   java -cp OUT TruthJava REPO_ROOT CLASSPATH SRC[,SRC...] OUT.json.gz [owner/name]
//
// REPO_ROOT is a git work tree, CLASSPATH the jars the sources need ('' for none), SRC the source folders relative to the root.
// All folders are compiled together in one task, so no type may be declared twice in them. JDK 17 or later; nothing is written
// but the output. A summary (counts, javac's errors by kind) goes to stderr; TRUTH_ERRORS=1 lists the errors.
//
// What is recorded
//  * Lines are 1-based and columns 0-based (UTF-16 units, a tab is one). line/col are those of the NAME token; start_line is
//    the first line of the declaration with its annotations and modifiers (not its Javadoc).
//  * def kinds: class (also records), interface (also @interface), enum, method (also constructors, under the class's name),
//    iface_method (bodiless method of an interface or annotation), field, const (static final), variant (enum constant);
//    local: var, param, typeparam. Members of local and anonymous classes are not local; anonymous classes have no def.
//  * sites: kind call (also this(...) / super(...), named "this" / "super"), new, and enum_const (the explicit constructor that
//    an enum constant runs; score.py leaves it out unless asked with --kinds). Compiler-made calls are not sites.
//  * status: internal    the target is declared in these sources: the overload javac chose, where it is declared
//            external    JDK or library
//            noncallable declared here, but there is no method to point at: new Iface() {...}, Enum.values(), record accessors
//            unresolved  javac could not attribute it, or chose among overloads with an argument it could not attribute
//  * targets of a constructor call: the constructor (if it is in the source) and its class: either is right.
//  * alt: methods of the repository that override or implement the target, or that it overrides or implements.
//  * from_*: the nearest enclosing method or constructor (lambdas belong to the method around them); 0 in field initialisers
//    and initialiser blocks; from_chain: all enclosing ones, inner to outer.
//  * refs: every name token that is not a package or label, imports included; a constructor call refers to constructor and
//    class, a static import to every static member of that name. Names in Javadoc are not references.
//  * imports, import_file_edges: imports of types of the repository and of their static members (also all members of a type);
//    `import p.*` for a package names no file and is left out.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import java.util.zip.GZIPOutputStream;
import javax.lang.model.element.*;
import javax.lang.model.type.*;
import javax.lang.model.util.*;
import javax.tools.*;

public class TruthJava {
    /** A definition; its id is its place in the list once all are known and sorted. */
    static class Def {
        String path, name, kind, sym;
        int id, line, col, startLine, endLine;
        boolean local, test;
        Element element;
    }

    /** A source file: its text, path, line starts and identifier tokens. */
    class Unit {
        final CompilationUnitTree tree;
        final String path, text;
        final boolean test;
        final List<Integer> lineStarts = new ArrayList<>(List.of(0));
        final TreeMap<Integer, String> words = new TreeMap<>();

        Unit(CompilationUnitTree tree) throws IOException {
            this.tree = tree;
            text = tree.getSourceFile().getCharContent(true).toString();
            path = root.relativize(Path.of(tree.getSourceFile().toUri())).toString().replace(File.separatorChar, '/');
            test = Arrays.stream(path.substring(0, sourceFolderLength(path)).split("/")).anyMatch(s -> s.matches("tests?"));
            for (int i = 0; i < text.length(); i++) if (text.charAt(i) == '\n') lineStarts.add(i + 1);
            scanWords();
        }

        int line(long pos) {
            int i = Collections.binarySearch(lineStarts, (int) pos);
            return i >= 0 ? i + 1 : -i - 1;
        }

        int col(long pos) { return (int) pos - lineStarts.get(line(pos) - 1); }

        long start(Tree t) { return positions.getStartPosition(tree, t); }

        long end(Tree t) { return positions.getEndPosition(tree, t); }

        boolean has(long pos, String word) { return pos >= 0 && word.equals(words.get((int) pos)); }

        /** The first (last) place of the word in [from, to), or -1. */
        long find(String word, long from, long to, boolean last) {
            var part = words.subMap((int) Math.max(from, 0), true, (int) Math.max(to, Math.max(from, 0)), false);
            for (var e : (last ? part.descendingMap() : part).entrySet()) if (e.getValue().equals(word)) return e.getKey();
            return -1;
        }

        /** Finds the identifiers and keywords of the text, outside comments and literals. */
        private void scanWords() {
            int i = 0, n = text.length();
            while (i < n) {
                char c = text.charAt(i);
                if (text.startsWith("//", i)) i = after("\n", i);
                else if (text.startsWith("/*", i)) i = after("*/", i + 2);
                else if (text.startsWith("\"\"\"", i)) i = quoted("\"\"\"", i);
                else if (c == '"' || c == '\'') i = quoted(String.valueOf(c), i);
                else if (Character.isJavaIdentifierStart(c) || Character.isDigit(c)) {
                    int from = i;
                    while (i < n && Character.isJavaIdentifierPart(text.charAt(i))) i++;
                    if (!Character.isDigit(c)) words.put(from, text.substring(from, i));
                } else i++;
            }
        }

        private int after(String mark, int from) {
            int at = text.indexOf(mark, from);
            return at < 0 ? text.length() : at + mark.length();
        }

        private int quoted(String quote, int at) {
            int i = at + quote.length();
            while (i < text.length() && !text.startsWith(quote, i)) i += text.charAt(i) == '\\' ? 2 : 1;
            return i + quote.length();
        }
    }

    final Path root;
    final List<String> folders;
    Trees trees;
    SourcePositions positions;
    Elements elements;
    Types types;
    final List<Unit> units = new ArrayList<>();
    final List<Def> defs = new ArrayList<>();
    final Map<Element, Def> defOf = new HashMap<>();
    final Map<Def, Set<Def>> related = new HashMap<>();       // override / implementation, both ways
    final Set<String> errorRanges = new HashSet<>();          // "path start end" of names and calls that javac rejected
    final List<Object> refs = new ArrayList<>(), sites = new ArrayList<>(), edges = new ArrayList<>(), imports = new ArrayList<>();
    final Set<List<String>> importFiles = new TreeSet<>(Comparator.comparing(l -> String.join(" ", l)));
    final Map<String, Integer> siteStatus = new TreeMap<>(), refStatus = new TreeMap<>();
    final Set<List<Object>> pairs = new HashSet<>();

    TruthJava(Path root, List<String> folders) {
        this.root = root;
        this.folders = folders;
    }

    public static void main(String[] args) throws Exception {
        if (args.length < 4) {
            System.err.println("usage: TruthJava REPO_ROOT CLASSPATH SRC[,SRC...] OUT.json.gz [owner/name]");
            System.exit(2);
        }
        Path root = Path.of(args[0]).toRealPath();
        new TruthJava(root, List.of(args[2].split(","))).run(args[1], args[3], args.length > 4 ? args[4] : root.getFileName().toString());
    }

    int sourceFolderLength(String path) {
        return folders.stream().filter(f -> path.startsWith(f + "/")).mapToInt(String::length).max().orElse(0);
    }

    void run(String classpath, String out, String repo) throws Exception {
        List<Path> files = new ArrayList<>();
        for (String folder : folders) {
            try (var walk = Files.walk(root.resolve(folder))) {
                walk.filter(p -> p.toString().endsWith(".java") && !p.endsWith("module-info.java")).sorted().forEach(files::add);
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        var problems = new DiagnosticCollector<JavaFileObject>();
        // Attribution goes on after errors, and all errors are reported.
        var options = List.of("-proc:none", "-nowarn", "-XDshould-stop.ifError=FLOW", "-Xmaxerrs", "100000", "-implicit:none",
                "-sourcepath", "", "-classpath", classpath);
        JavacTask task = (JavacTask) compiler.getTask(null, manager, problems, options, null, manager.getJavaFileObjectsFromPaths(files));
        trees = Trees.instance(task);
        positions = trees.getSourcePositions();
        elements = task.getElements();
        types = task.getTypes();
        var parsed = new ArrayList<CompilationUnitTree>();
        task.parse().forEach(parsed::add);
        task.analyze();
        for (var tree : parsed) units.add(new Unit(tree));
        units.sort(Comparator.comparing(u -> u.path));
        noteErrors(problems);

        for (Unit unit : units) new Definitions(unit).scan(unit.tree, null);
        defs.sort(Comparator.comparing((Def d) -> d.path).thenComparing(d -> d.line).thenComparing(d -> d.col));
        for (int i = 0; i < defs.size(); i++) defs.get(i).id = i;
        relateOverrides();
        for (Unit unit : units) new Uses(unit).scan(unit.tree, null);
        write(out, repo);
    }

    void noteErrors(DiagnosticCollector<JavaFileObject> problems) {
        Map<String, Integer> kinds = new TreeMap<>();
        for (var d : problems.getDiagnostics()) {
            if (d.getKind() != Diagnostic.Kind.ERROR) continue;
            String path = d.getSource() == null ? "?" : root.relativize(Path.of(d.getSource().toUri())).toString();
            if (d.getCode().matches("compiler\\.err\\.(cant\\.(apply|resolve|ref)|ref\\.ambiguous|report\\.access|not\\.def).*"))
                errorRanges.add(path + " " + d.getStartPosition() + " " + d.getEndPosition());
            kinds.merge(d.getCode(), 1, Integer::sum);
            if (System.getenv("TRUTH_ERRORS") != null) System.err.println(path + ":" + d.getLineNumber() + " " + d.getCode() + " " + d.getMessage(null).replace('\n', ' '));
        }
        System.err.println("javac errors: " + kinds);
    }

    /** First pass: every declaration in the source. */
    class Definitions extends TreePathScanner<Void, Void> {
        final Unit unit;

        Definitions(Unit unit) { this.unit = unit; }

        void add(Tree tree, String name, long at, String kind, boolean local) {
            Element element = trees.getElement(getCurrentPath());
            if (element == null || !unit.has(at, name)) return;
            Def d = new Def();
            d.path = unit.path;
            d.name = name;
            d.kind = kind;
            d.line = unit.line(at);
            d.col = unit.col(at);
            d.startLine = unit.line(unit.start(tree));
            d.endLine = unit.line(Math.max(unit.end(tree), at));
            d.local = local;
            d.test = unit.test;
            d.sym = local ? d.path + ":" + d.line + ":" + d.col
                    : element instanceof TypeElement ? element.toString() : element.getEnclosingElement() + "#" + element;
            d.element = element;
            if (defOf.putIfAbsent(element, d) == null) defs.add(d);
        }

        @Override public Void visitClass(ClassTree t, Void p) {
            String name = t.getSimpleName().toString();
            if (!name.isEmpty()) {
                String kind = switch (t.getKind()) {
                    case INTERFACE, ANNOTATION_TYPE -> "interface";
                    case ENUM -> "enum";
                    default -> "class";
                };
                long from = Math.max(unit.end(t.getModifiers()), unit.start(t));
                add(t, name, unit.find(name, from, unit.end(t), false), kind, false);
            }
            return super.visitClass(t, p);
        }

        @Override public Void visitMethod(MethodTree t, Void p) {
            if (unit.end(t) < 0) return null;                   // made by the compiler
            boolean constructor = t.getReturnType() == null;
            Element element = trees.getElement(getCurrentPath());
            String name = constructor && element != null ? element.getEnclosingElement().getSimpleName().toString() : t.getName().toString();
            long from = Math.max(unit.end(t.getModifiers()), unit.start(t));
            for (var tp : t.getTypeParameters()) from = Math.max(from, unit.end(tp));
            boolean bodiless = t.getBody() == null && element != null && element.getEnclosingElement().getKind().isInterface();
            long at = unit.find(name, from, unit.end(t), false);
            while (!constructor && at >= 0 && !unit.text.substring((int) at + name.length()).stripLeading().startsWith("("))
                at = unit.find(name, at + 1, unit.end(t), false);       // the name may be in the return type too
            add(t, name, at, bodiless ? "iface_method" : "method", false);
            return super.visitMethod(t, p);
        }

        @Override public Void visitVariable(VariableTree t, Void p) {
            Element e = trees.getElement(getCurrentPath());
            String name = t.getName().toString();
            if (e != null && !name.isEmpty()) {
                boolean constant = e.getKind() == ElementKind.ENUM_CONSTANT;
                // `T x = init`: the last x before init; an enum constant: the first after its annotations.
                long at = constant ? unit.find(name, Math.max(unit.end(t.getModifiers()), unit.start(t)), unit.start(t) + unit.text.length(), false)
                        : unit.find(name, unit.start(t), t.getInitializer() != null && unit.start(t.getInitializer()) >= 0
                                ? unit.start(t.getInitializer()) : unit.end(t), true);
                String kind = switch (e.getKind()) {
                    case ENUM_CONSTANT -> "variant";
                    case FIELD -> e.getModifiers().containsAll(Set.of(Modifier.STATIC, Modifier.FINAL)) ? "const" : "field";
                    case PARAMETER, EXCEPTION_PARAMETER -> "param";
                    default -> "var";
                };
                add(t, name, at, kind, !e.getKind().isField());
            }
            return super.visitVariable(t, p);
        }

        @Override public Void visitTypeParameter(TypeParameterTree t, Void p) {
            String name = t.getName().toString();
            add(t, name, unit.find(name, unit.start(t), unit.end(t), false), "typeparam", true);
            return super.visitTypeParameter(t, p);
        }
    }

    void relateOverrides() {
        for (Def d : defs) {
            if (!(d.element instanceof ExecutableElement method) || !(method.getEnclosingElement() instanceof TypeElement owner)) continue;
            for (TypeElement above : supertypes(owner)) {
                for (var other : ElementFilter.methodsIn(above.getEnclosedElements())) {
                    Def o = defOf.get(other);
                    if (o == null || !o.name.equals(d.name) || !elements.overrides(method, other, owner)) continue;
                    related.computeIfAbsent(d, k -> new LinkedHashSet<>()).add(o);
                    related.computeIfAbsent(o, k -> new LinkedHashSet<>()).add(d);
                }
            }
        }
    }

    Set<TypeElement> supertypes(TypeElement type) {
        Set<TypeElement> all = new LinkedHashSet<>();
        Deque<TypeMirror> todo = new ArrayDeque<>(types.directSupertypes(type.asType()));
        while (!todo.isEmpty()) {
            TypeMirror t = todo.pop();
            if (t.getKind() == TypeKind.DECLARED && types.asElement(t) instanceof TypeElement e && all.add(e)) todo.addAll(types.directSupertypes(t));
        }
        return all;
    }

    /** What a name or call means: a status and the definitions (the preferred one first). */
    record Meaning(String status, List<Def> defs) {
        static final Meaning EXTERNAL = new Meaning("external", List.of()), UNRESOLVED = new Meaning("unresolved", List.of());
    }

    /** Second pass: references and call sites. */
    class Uses extends TreePathScanner<Void, Void> {
        final Unit unit;
        final Deque<Def> enclosing = new ArrayDeque<>();        // methods, innermost first
        final Map<Tree, Meaning> constructorNames = new IdentityHashMap<>();
        final Set<Long> seenRefs = new HashSet<>(), seenSites = new HashSet<>();
        boolean inImport;

        Uses(Unit unit) { this.unit = unit; }

        Element element(Tree child) { return trees.getElement(new TreePath(getCurrentPath(), child)); }

        Meaning meaning(Element e) {
            if (e == null || e.asType().getKind() == TypeKind.ERROR) return Meaning.UNRESOLVED;
            Def d = defOf.get(e);
            if (d != null) {
                if (e.getKind() != ElementKind.CONSTRUCTOR) return new Meaning("internal", List.of(d));
                Def type = defOf.get(e.getEnclosingElement());
                return new Meaning("internal", type == null ? List.of(d) : List.of(d, type));
            }
            Element owner = e.getEnclosingElement();
            Def type = defOf.get(owner);
            if (e instanceof VariableElement && !e.getKind().isField()) return Meaning.UNRESOLVED;          // a local that javac lost
            if (type == null) return Meaning.EXTERNAL;
            if (e.getKind() == ElementKind.CONSTRUCTOR) return new Meaning("internal", List.of(type));      // the default constructor
            for (Element sibling : owner.getEnclosedElements()) {                                          // a record's accessor
                if (sibling.getKind() == ElementKind.FIELD && owner.getKind() == ElementKind.RECORD && sibling.getSimpleName().equals(e.getSimpleName()) && defOf.containsKey(sibling))
                    return new Meaning("noncallable", List.of(defOf.get(sibling)));
            }
            return new Meaning("noncallable", List.of(type));                                              // values(), valueOf()
        }

        void ref(long at, String name, Meaning m) {
            if (!unit.has(at, name) || !seenRefs.add(at)) return;
            var r = new LinkedHashMap<String, Object>();
            r.put("path", unit.path);
            r.put("line", unit.line(at));
            r.put("col", unit.col(at));
            r.put("name", name);
            // A use of a compiler-made member has no definition of its own to refer to.
            boolean internal = m.status.equals("internal");
            String status = internal || m.status.equals("unresolved") ? m.status : "external";
            r.put("status", status);
            r.put("defs", internal ? ids(m.defs) : List.of());
            r.put("role", inImport ? "import" : "ref");
            boolean local = internal && m.defs.stream().allMatch(d -> d.local);
            if (internal) r.put("local", local);
            refs.add(r);
            refStatus.merge(local ? "local" : status, 1, Integer::sum);
        }

        void site(String kind, long at, String name, Tree whole, String receiver, Meaning m) {
            if (!unit.has(at, name) || !seenSites.add(at)) return;
            var s = new LinkedHashMap<String, Object>();
            Def from = enclosing.peek();
            s.put("path", unit.path);
            s.put("line", unit.line(at));
            s.put("expr_line", unit.line(unit.start(whole)));
            s.put("col", unit.col(at));
            s.put("name", name);
            s.put("kind", kind);
            s.put("recv", receiver);
            s.put("in_macro", false);
            s.put("status", m.status);
            s.put("targets", ids(m.defs));
            var alt = m.status.equals("internal") ? related.getOrDefault(m.defs.get(0), Set.of()) : Set.<Def>of();
            s.put("alt", ids(alt));
            s.put("from_line", from == null ? 0 : from.line);
            s.put("from_start", from == null ? 0 : from.startLine);
            s.put("from_name", from == null ? "<module>" : from.name);
            s.put("from_chain", enclosing.stream().map(d -> d.line).collect(Collectors.toList()));
            s.put("test", unit.test);
            sites.add(s);
            siteStatus.merge(m.status, 1, Integer::sum);
            if (!m.status.equals("internal")) return;
            Def to = m.defs.get(0);
            var e = new LinkedHashMap<String, Object>();
            e.put("from_path", unit.path);
            e.put("from_line", s.get("from_line"));
            e.put("from_name", s.get("from_name"));
            e.put("to_path", to.path);
            e.put("to_line", to.line);
            e.put("to_name", to.name);
            e.put("to_kind", to.kind);
            e.put("site_line", s.get("line"));
            e.put("site_col", s.get("col"));
            e.put("kind", kind);
            edges.add(e);
            pairs.add(List.of(unit.path, s.get("from_line"), to.id));
        }

        String source(Tree t) {
            String s = unit.text.substring((int) unit.start(t), (int) Math.max(unit.start(t), unit.end(t)));
            return s.length() > 80 ? s.substring(0, 80) : s;
        }

        boolean rejected(Tree t) { return errorRanges.contains(unit.path + " " + unit.start(t) + " " + unit.end(t)); }

        /** The meaning of a call; not believed where javac complained, or had to choose with an argument of unknown type. */
        Meaning callee(Element e, Tree named, List<? extends ExpressionTree> arguments) {
            if (!(e instanceof ExecutableElement method) || rejected(named)) return Meaning.UNRESOLVED;
            boolean unknown = arguments.stream().anyMatch(a -> {
                TypeMirror t = trees.getTypeMirror(new TreePath(getCurrentPath(), a));
                return t != null && t.getKind() == TypeKind.ERROR;
            });
            if (unknown && method.getEnclosingElement() instanceof TypeElement owner) {
                long same = elements.getAllMembers(owner).stream().filter(o -> o.getKind() == e.getKind() && o.getSimpleName().equals(e.getSimpleName())
                        && (((ExecutableElement) o).isVarArgs() || ((ExecutableElement) o).getParameters().size() == arguments.size())).count();
                if (same > 1) return Meaning.UNRESOLVED;
            }
            return meaning(e);
        }

        @Override public Void visitMethodInvocation(MethodInvocationTree t, Void p) {
            ExpressionTree select = t.getMethodSelect();
            Meaning m = callee(element(select), select, t.getArguments());
            String name = select instanceof MemberSelectTree ms ? ms.getIdentifier().toString() : ((IdentifierTree) select).getName().toString();
            long at = select instanceof MemberSelectTree ? unit.end(select) - name.length() : unit.start(select);
            site("call", at, name, t, select instanceof MemberSelectTree ms ? source(ms.getExpression()) : null, m);
            ref(at, name, m);
            return super.visitMethodInvocation(t, p);
        }

        @Override public Void visitNewClass(NewClassTree t, Void p) {
            Tree type = t.getIdentifier();
            while (true) {
                if (type instanceof ParameterizedTypeTree g) type = g.getType();
                else if (type instanceof AnnotatedTypeTree a) type = a.getUnderlyingType();
                else break;
            }
            Element named = element(type);
            Element constructor = t.getClassBody() == null ? trees.getElement(getCurrentPath()) : superConstructor(t.getClassBody());
            boolean anonymousOfInterface = named != null && named.getKind().isInterface();
            Meaning m = anonymousOfInterface ? meaning(named) : callee(constructor, t, t.getArguments());
            if (named == null || named.asType().getKind() == TypeKind.ERROR || rejected(type)) m = Meaning.UNRESOLVED;
            if (anonymousOfInterface && m.status.equals("internal")) m = new Meaning("noncallable", m.defs);
            if (getCurrentPath().getParentPath().getLeaf() instanceof VariableTree v && v.getInitializer() == t && isEnumConstant(v)) {
                String name = v.getName().toString();
                if (m.defs.size() > 1) site("enum_const", unit.find(name, Math.max(unit.end(v.getModifiers()), unit.start(v)), unit.text.length(), false), name, v, null, m);
            } else {
                String name = type instanceof MemberSelectTree ms ? ms.getIdentifier().toString() : String.valueOf(type);
                long at = type instanceof MemberSelectTree ? unit.end(type) - name.length() : unit.start(type);
                String receiver = type instanceof MemberSelectTree ms ? source(ms.getExpression())
                        : t.getEnclosingExpression() != null ? source(t.getEnclosingExpression()) : null;
                site("new", at, name, t, receiver, m);
                if (m.status.equals("internal")) constructorNames.put(type, m);
            }
            return super.visitNewClass(t, p);
        }

        boolean isEnumConstant(VariableTree v) {
            Element e = trees.getElement(getCurrentPath().getParentPath());
            return e != null && e.getKind() == ElementKind.ENUM_CONSTANT;
        }

        /** The constructor that an anonymous class's own (compiler-made) constructor calls. */
        Element superConstructor(ClassTree body) {
            for (Tree member : body.getMembers()) {
                if (!(member instanceof MethodTree m) || m.getReturnType() != null || m.getBody() == null) continue;
                for (StatementTree s : m.getBody().getStatements())
                    if (s instanceof ExpressionStatementTree x && x.getExpression() instanceof MethodInvocationTree call) return element(call.getMethodSelect());
            }
            return null;
        }

        @Override public Void visitIdentifier(IdentifierTree t, Void p) {
            String name = t.getName().toString();
            if (!name.equals("this") && !name.equals("super")) name(t, name, unit.start(t));
            return super.visitIdentifier(t, p);
        }

        @Override public Void visitMemberSelect(MemberSelectTree t, Void p) {
            String name = t.getIdentifier().toString();
            if (!Set.of("this", "super", "class", "*").contains(name)) name(t, name, unit.end(t) - name.length());
            return super.visitMemberSelect(t, p);
        }

        void name(Tree t, String name, long at) {
            Element e = trees.getElement(getCurrentPath());
            if (e == null || e.getKind() != ElementKind.PACKAGE) ref(at, name, constructorNames.getOrDefault(t, meaning(e)));
        }

        @Override public Void visitMemberReference(MemberReferenceTree t, Void p) {
            String name = t.getMode() == MemberReferenceTree.ReferenceMode.NEW ? "new" : t.getName().toString();
            Element e = trees.getElement(getCurrentPath());
            ref(unit.end(t) - name.length(), name, e instanceof ExecutableElement && !rejected(t) ? meaning(e) : Meaning.UNRESOLVED);
            return super.visitMemberReference(t, p);
        }

        @Override public Void visitClass(ClassTree t, Void p) {
            if (!t.getSimpleName().isEmpty()) return super.visitClass(t, p);
            scan(t.getMembers(), p);            // anonymous: its supertype is the name after `new`, seen already
            return null;
        }

        @Override public Void visitMethod(MethodTree t, Void p) {
            if (unit.end(t) < 0) return null;   // made by the compiler
            Def d = defOf.get(trees.getElement(getCurrentPath()));
            if (d != null) enclosing.push(d);
            super.visitMethod(t, p);
            if (d != null) enclosing.pop();
            return null;
        }

        @Override public Void visitPackage(PackageTree t, Void p) { return scan(t.getAnnotations(), p); }

        @Override public Void visitImport(ImportTree t, Void p) {
            inImport = true;
            MemberSelectTree path = (MemberSelectTree) t.getQualifiedIdentifier();
            String name = path.getIdentifier().toString();
            Element owner = trees.getElement(new TreePath(new TreePath(getCurrentPath(), path), path.getExpression()));
            if (name.equals("*")) imported(path, owner);
            else if (t.isStatic() && owner instanceof TypeElement type) {
                List<Element> found = elements.getAllMembers(type).stream()
                        .filter(e -> e.getModifiers().contains(Modifier.STATIC) && e.getSimpleName().contentEquals(name)).collect(Collectors.toList());
                List<Def> targets = found.stream().map(defOf::get).filter(Objects::nonNull).sorted(Comparator.comparing(d -> d.id)).collect(Collectors.toList());
                if (!found.isEmpty()) ref(unit.end(path) - name.length(), name, targets.isEmpty() ? Meaning.EXTERNAL : new Meaning("internal", targets));
                imported(path, targets.isEmpty() ? null : targets.get(0).element);
            } else imported(path, element(path));
            super.visitImport(t, p);
            inImport = false;
            return null;
        }

        void imported(MemberSelectTree path, Element e) {
            Def d = e == null ? null : defOf.get(e);
            if (d == null) return;
            var i = new LinkedHashMap<String, Object>();
            i.put("path", unit.path);
            i.put("line", unit.line(unit.end(path) - 1));
            i.put("name", path.getIdentifier().toString());
            i.put("to_path", d.path);
            i.put("to_line", d.line);
            i.put("to_name", d.name);
            i.put("to_kind", d.kind);
            imports.add(i);
            if (!d.path.equals(unit.path)) importFiles.add(List.of(unit.path, d.path));
        }
    }

    static List<Integer> ids(Collection<Def> defs) { return defs.stream().map(d -> d.id).collect(Collectors.toList()); }

    void write(String out, String repo) throws Exception {
        var git = new ProcessBuilder("git", "-C", root.toString(), "rev-parse", "HEAD").start();
        String commit = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        var callable = Set.of("method", "iface_method", "class");
        int internalRefs = refStatus.getOrDefault("internal", 0), localRefs = refStatus.getOrDefault("local", 0);
        var meta = new LinkedHashMap<String, Object>();
        meta.put("repo", repo);
        meta.put("commit", commit);
        meta.put("language", "java");
        meta.put("indexer", "TruthJava (javac " + Runtime.version() + ")");
        meta.put("files", units.size());
        meta.put("defs", defs.size());
        meta.put("defs_nonlocal", defs.stream().filter(d -> !d.local).count());
        meta.put("callable_defs", defs.stream().filter(d -> callable.contains(d.kind)).count());
        meta.put("refs", refs.size());
        meta.put("refs_internal", internalRefs + localRefs);
        meta.put("refs_internal_nonlocal", internalRefs);
        meta.put("refs_external", refStatus.getOrDefault("external", 0));
        meta.put("call_sites", sites.size());
        meta.put("site_status", siteStatus);
        meta.put("edges", edges.size());
        meta.put("edge_pairs", pairs.size());
        meta.put("imports", imports.size());
        meta.put("import_file_edges", importFiles.size());
        meta.put("syntactic_defs_without_index", 0);
        meta.put("notes", null);
        var truth = new LinkedHashMap<String, Object>();
        truth.put("meta", meta);
        truth.put("files", units.stream().map(u -> u.path).collect(Collectors.toList()));
        truth.put("defs", defs.stream().map(d -> {
            var m = new LinkedHashMap<String, Object>();
            m.put("id", d.id);
            m.put("path", d.path);
            m.put("line", d.line);
            m.put("col", d.col);
            m.put("name", d.name);
            m.put("kind", d.kind);
            m.put("start_line", d.startLine);
            m.put("end_line", d.endLine);
            m.put("local", d.local);
            m.put("sym", d.sym);
            m.put("test", d.test);
            return m;
        }).collect(Collectors.toList()));
        truth.put("refs", refs);
        truth.put("sites", sites);
        truth.put("edges", edges);
        truth.put("imports", imports);
        truth.put("import_file_edges", importFiles);
        truth.put("unindexed_defs", List.of());
        try (var w = new OutputStreamWriter(new GZIPOutputStream(new FileOutputStream(out)), StandardCharsets.UTF_8)) {
            StringBuilder text = new StringBuilder();
            json(truth, text);
            w.write(text.toString());
        }
        System.err.println(repo + " " + commit + "\nrefs " + refStatus);
        StringBuilder summary = new StringBuilder();
        json(meta, summary);
        System.err.println(summary);
    }

    static void json(Object o, StringBuilder out) {
        if (o instanceof Map<?, ?> map) {
            String comma = "{";
            for (var e : map.entrySet()) {
                out.append(comma);
                json(e.getKey(), out);
                out.append(": ");
                json(e.getValue(), out);
                comma = ", ";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (o instanceof Collection<?> list) {
            String comma = "[";
            for (Object x : list) {
                out.append(comma);
                json(x, out);
                comma = ", ";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else if (o instanceof String s) {
            out.append('"');
            for (char c : s.toCharArray()) {
                if (c == '"' || c == '\\') out.append('\\').append(c);
                else if (c < ' ' || c >= 0x7f) out.append(String.format("\\u%04x", (int) c));
                else out.append(c);
            }
            out.append('"');
        } else out.append(o);
    }
}
