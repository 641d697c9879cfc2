//! The line starts of a text.

/// The first byte of every line. A line ends after its `\n`; the last one may lack it.
pub(crate) struct LineStarts {
    starts: Vec<u32>,
    len: u32,
}

impl LineStarts {
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        if !bytes.is_empty() {
            starts.push(0);
        }
        let after = |at: usize| at as u32 + 1;
        starts.extend(bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| after(at)));
        if starts.len() > 1 && starts.last() == Some(&(bytes.len() as u32)) {
            starts.pop();
        }
        Self { starts, len: bytes.len() as u32 }
    }

    /// Returns the number of lines.
    pub(crate) fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Returns the line of an offset, from 1. The end of the text belongs to the last line.
    pub(crate) fn line(&self, offset: u32) -> u32 {
        (self.starts.partition_point(|&start| start <= offset) as u32).max(1)
    }

    /// Returns the line of an offset at or after the line `from`: a short step forward instead of a binary search.
    pub(crate) fn line_from(&self, from: u32, offset: u32) -> u32 {
        let mut line = from.max(1);
        while self.starts.get(line as usize).is_some_and(|&start| start <= offset) {
            line += 1;
        }
        line
    }

    /// Returns the first byte of a line, counted from 1; the end of the text for lines after the last.
    pub(crate) fn start(&self, line: u32) -> u32 {
        self.starts.get(line as usize - 1).copied().unwrap_or(self.len)
    }

    /// Returns the offset after a line and its `\n`.
    pub(crate) fn end(&self, line: u32) -> u32 {
        self.start(line + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_include_their_newline() {
        for (text, count) in [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\n\n", 2)] {
            assert_eq!(LineStarts::new(text).count(), count, "{text:?}");
        }
        let lines = LineStarts::new("ab\nc\n");
        assert_eq!([0, 2, 3, 4, 5].map(|offset| lines.line(offset)), [1, 1, 2, 2, 2]);
        assert_eq!((lines.start(2), lines.end(2), lines.end(1)), (3, 5, 3));
        assert_eq!(lines.line_from(1, 3), 2);
    }
}
