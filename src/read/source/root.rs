//! The folder from which reports name the files of a program.

/// The folder that all files are in: `/` or `.`, if there is no other.
pub(crate) struct Root<'a>(pub &'a str);

impl<'a> Root<'a> {
    /// Of these files.
    pub(crate) fn find(files: impl Iterator<Item = &'a str> + Clone) -> Root<'a> {
        let folder = |name: &'a str| name.rfind('/').map_or("", |end| &name[..end]);
        let first = files.clone().next().map_or("", folder);
        let common = files.clone().fold(first, |mut common, name| {
            while !is_below(name, common) {
                common = folder(common);
            }
            common
        });
        let mut files = files;
        let some = files.clone().next().is_some();
        Root(match common {
            "" if some && files.all(|f| f.starts_with('/')) => "/",
            "" => ".",
            folder => folder,
        })
    }

    /// The repository instead, if all files are in it: services of CI know them by their paths there.
    pub(crate) fn or_above(self, repository: Option<&'a str>) -> Root<'a> {
        Root(
            repository
                .filter(|r| is_below(self.0, r) || self.0 == *r)
                .unwrap_or(self.0),
        )
    }

    /// What a file is called there; its whole name, if it is not below the folder.
    pub(crate) fn name<'b>(&self, file: &'b str) -> &'b str {
        match file.strip_prefix(self.0) {
            Some(rest) if self.0 == "/" || is_below(file, self.0) && self.0 != "." => {
                rest.trim_start_matches('/')
            }
            _ => file,
        }
    }
}

fn is_below(name: &str, folder: &str) -> bool {
    let rest = name.strip_prefix(folder);
    rest.is_some_and(|rest| folder.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::Root;

    #[test]
    fn files_of_a_repository_are_named_from_there() {
        let root = |repository| {
            let files = ["/p/src/a.c", "/p/src/b/c.c"];
            let root = Root::find(files.into_iter()).or_above(Some(repository));
            (root.0.to_string(), root.name(files[1]).to_string())
        };
        assert_eq!(root("/p"), ("/p".into(), "src/b/c.c".into()));
        assert_eq!(root("/p/src"), ("/p/src".into(), "b/c.c".into()));
        for other in ["/q", "/p/src/b", "/p/s"] {
            assert_eq!(root(other), ("/p/src".into(), "b/c.c".into()));
        }
    }

    #[test]
    fn names_stay_whole_outside_of_the_folder() {
        // A program without -g names no source file, and its modules have relative names.
        let root = Root::find(std::iter::empty());
        assert_eq!(
            (root.0, root.name("nog.bc"), root.name("/p/nog.bc")),
            (".", "nog.bc", "/p/nog.bc")
        );
        assert_eq!(
            Root::find(["/p/a.c", "/q/a.c"].into_iter()).name("nog.bc"),
            "nog.bc"
        );
    }

    #[test]
    fn folders_that_files_share() {
        for (files, root, last) in [
            (
                &["/p/src/a.c", "/p/src/b/c.c", "/p/srcs/d.c"][..],
                "/p",
                "srcs/d.c",
            ),
            (&["/p/src/a.c"], "/p/src", "a.c"),
            (&["/p/a.c", "b.c", "/q/c.c"], ".", "/q/c.c"),
            (&["/p/a.c", "/q/a.c"], "/", "q/a.c"),
            (&["a.c", "./b.c"], ".", "./b.c"),
        ] {
            let found = Root::find(files.iter().copied());
            assert_eq!((found.0, found.name(files[files.len() - 1])), (root, last));
        }
    }
}
