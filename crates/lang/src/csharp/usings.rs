//! Implicit imports of C# files: `global using` in another file, and `<Using>` in project files.

use codecompass_model::{Import, ImportForm, World};

/// Files that by convention contain the global imports.
const GLOBAL_USING_FILES: &[&str] = &["GlobalUsings.cs", "GlobalUsing.cs", "Usings.cs", "GlobalImports.cs"];

/// Build files that apply to all projects below their folder.
const BUILD_FILES: &[&str] = &["Directory.Build.props", "Directory.Build.targets"];

/// Returns the imports that a file shares with others.
pub(super) fn implicit_imports(world: &dyn World, path: &str) -> Vec<Import> {
    let mut all = Vec::new();
    let folders: Vec<&str> = std::iter::successors(folder(path), |inner| folder(inner)).collect();
    for id in GLOBAL_USING_FILES.iter().flat_map(|name| world.files_named(name).to_vec()) {
        let Some(file) = world.file(id) else { continue };
        // The file is in the project's folder or in its `Properties` folder.
        let home = folder(&file.path).unwrap_or("");
        let home = home.strip_suffix("/Properties").unwrap_or(home);
        if folders.contains(&home) {
            all.extend(file.facts.imports.iter().filter(|import| import.reexport).cloned());
        }
    }
    for folder in folders {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        let beside = |name: &str| if folder.is_empty() { name.to_owned() } else { [folder, "/", name].concat() };
        let files = BUILD_FILES.iter().map(|name| beside(name)).chain([beside(&[name, ".csproj"].concat())]);
        for id in files.filter_map(|path| world.file_at(&path)) {
            all.extend(world.text(id).iter().flat_map(|text| usings(text)));
        }
    }
    all
}

fn folder(path: &str) -> Option<&str> {
    if path.is_empty() { None } else { Some(path.rsplit_once('/').map_or("", |(folder, _)| folder)) }
}

/// `<Using Include="A.B" Static="true" />`.
fn usings(text: &str) -> Vec<Import> {
    let elements = text.split("<Using ").skip(1).map(|rest| rest.split('>').next().unwrap_or(rest));
    let import = |element: &str| {
        let module = element.split("Include=\"").nth(1)?.split('"').next()?;
        let is_static = element.contains("Static=\"true\"") || element.contains("Static=\"True\"");
        // An alias imports nothing else.
        (!element.contains("Alias=")).then(|| Import {
            module: module.to_owned(),
            name: None,
            alias: None,
            glob: true,
            reexport: true,
            form: if is_static { ImportForm::Static } else { ImportForm::TypeOnly },
            line: 0,
            symbol: None,
        })
    };
    elements.filter_map(import).collect()
}

#[cfg(test)]
mod tests {
    use super::usings;

    #[test]
    fn reads_project_usings() {
        let text = "<Project><ItemGroup><Using Include=\"A.B\" /><Using Include=\"C.D\" Static=\"true\"/>\n<Using Include=\"E\" Alias=\"F\" /></ItemGroup>";
        let found: Vec<_> = usings(text).into_iter().map(|import| (import.module, import.form)).collect();
        let expected = [("A.B", super::ImportForm::TypeOnly), ("C.D", super::ImportForm::Static)];
        assert_eq!(found, expected.map(|(module, form)| (module.to_owned(), form)));
    }
}
