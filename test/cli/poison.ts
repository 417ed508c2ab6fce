/** Every character that a terminal would obey or that turns text around, in sequences that have done harm. */
export const POISON = [
  '\u001b[2J\u001b[31m',
  '\u001b]0;title\u0007',
  '\u001b]8;;https://evil.example/\u001b\\link\u001b]8;;\u001b\\',
  '\u001b]52;c;cm0gLXJm\u0007',
  '\u001bP1$r\u001b\\',
  '\u009b31m\u009d0;x\u009c',
  'kept\rgone\b\b\b\u007f\u0000\u000b\u000c\u0085',
  '\u202eexe.fdp\u2066\u2069\u200e\u200f\u061c\u2028\u2029\ufeff',
].join(' ');

/** What must not reach a terminal as it is; line ends may. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
export const HARMFUL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
