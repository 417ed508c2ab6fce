import type { Shell } from './shell.ts';

/** PowerShell makes two words of `a,b`, and numbers of `5kb`, `.5` and `0x10`. */
const BARE_IN_POWERSHELL =
  /^(?:-|--?[A-Za-z][\w-]*(?:=[\w/-]+)?|(?!\.\d)[A-Za-z_./\\][\w./:\\=+-]*|[1-9]\d{0,14}|\d+(?:-\d+)+(?:T[\d:]+Z?)?)$/;

/** Words that no shell of a kind changes. */
const BARE: Readonly<Record<Shell, RegExp>> = {
  sh: /^(?![=~])[\w.,:/@=+-]+$/,
  cmd: /^(?![=,@])[\w./:\\@+=,-]+$/,
  powershell: BARE_IN_POWERSHELL,
  pwsh: BARE_IN_POWERSHELL,
};

/**
 * A word as it is typed so that the program gets it unchanged: bare where that is safe. Throws a RangeError for what no
 * command line of the shell can hold: NUL, and line breaks in cmd.
 */
export function quoteWord(word: string, shell: Shell): string {
  if (word.includes('\0') || (shell === 'cmd' && /[\r\n]/.test(word))) {
    throw new RangeError(`No command line of ${shell} holds this word.`);
  }
  return BARE[shell].test(word) ? word : QUOTED[shell](word);
}

const QUOTED: Readonly<Record<Shell, (word: string) => string>> = {
  // Backslashes stand outside the quotes, for within them fish reads two as one.
  sh: (word) => `'${word.replace(/['\\]/g, "'\\$&'")}'`,
  pwsh: powershellLiteral,
  powershell: (word) => powershellLiteral(word === '' ? '""' : legacyArgument(word)),
  // A variable is replaced even within quotes, unless its name has a quote. A doubled quote leaves cmd within quotes.
  cmd: (word) => `"${escapedBackslashes(word).replaceAll('"', '""').replaceAll('%', '"^%"')}"`,
};

/** A string that PowerShell takes as it is. Typographic quotes end one, too. */
export function powershellLiteral(text: string): string {
  return `'${text.replace(/['\u2018-\u201B]/g, '$&$&')}'`;
}

/** What Windows PowerShell is to be given: it puts quotes around what has blanks, and escapes nothing within them. */
function legacyArgument(word: string): string {
  const escaped = word.replace(/(\\*)"/g, '$1$1\\"');
  return /\s/.test(word) ? escaped.replace(/\\+$/, '$&$&') : escaped;
}

/** Backslashes before what will be a quote, which they would escape, are doubled. */
function escapedBackslashes(word: string): string {
  return word.replace(/(\\+)(["%]|$)/g, '$1$1$2');
}
