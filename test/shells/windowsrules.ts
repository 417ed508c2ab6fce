/**
 * What Windows makes of a typed line, by the rules that its makers document: about_Parsing and
 * about_Quoting_Rules of PowerShell, "Parsing C command-line arguments" of Microsoft's C runtime, and the help of cmd.
 */

/** Arguments of a program whose C runtime splits the command line. */
export function splitByRuntime(line: string): string[] {
  const args: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '\\') {
      const slashes = /^\\+/.exec(line.slice(at))?.[0].length ?? 0;
      const isBeforeQuote = line.charAt(at + slashes) === '"';
      word = (word ?? '') + '\\'.repeat(isBeforeQuote ? Math.floor(slashes / 2) : slashes);
      at += slashes - 1;
      if (isBeforeQuote && slashes % 2 === 1) {
        word += '"';
        at++;
      }
    } else if (char === '"') {
      word ??= '';
      if (isQuoted && line.charAt(at + 1) === '"') {
        word += '"';
        at++;
      } else isQuoted = !isQuoted;
    } else if ((char === ' ' || char === '\t') && !isQuoted) {
      if (word !== undefined) args.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  return word === undefined ? args : [...args, word];
}

/** What cmd gives to a command file that passes all its arguments on, as npm's do; throws where cmd does more. */
export function typedIntoCmd(line: string, variables: Readonly<Record<string, string>>): string[] {
  const replaced = line.replace(/%([^%]*)%/g, (whole, name: string) => variables[name] ?? whole);
  // The rest of the line stands in the file for %*, and is read once more, but for variables.
  const rest = /^args( .*|$)/s.exec(withoutCarets(replaced))?.[1] ?? '';
  if (/^[ \t]*[=,;@]/.test(rest)) throw new Error('cmd takes a sign before the first argument away.');
  return splitByRuntime(withoutCarets(rest));
}

function withoutCarets(line: string): string {
  let text = '';
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    let char = line.charAt(at);
    if (char === '"') isQuoted = !isQuoted;
    if (!isQuoted && /[&|<>()\r\n]/.test(char)) throw new Error(`cmd takes ${JSON.stringify(char)} for itself.`);
    if (!isQuoted && char === '^') char = line.charAt(++at);
    text += char;
  }
  return text;
}

/** Arguments that PowerShell passes to a script such as npm's molar.ps1, which passes them on as they are. */
export function typedIntoPowershell(line: string): string[] {
  const words: string[] = [];
  let rest = line.replace(/^args/, '');
  while (rest !== '') {
    const [blank] = /^[ \t]+/.exec(rest) ?? [];
    if (blank === undefined) throw new Error(`Two arguments touch before ${rest}`);
    rest = rest.slice(blank.length);
    if (/^['\u2018-\u201B]/.test(rest)) {
      const [quoted = ''] =
        /^['\u2018-\u201B](?:[^'\u2018-\u201B]|(?:['\u2018-\u201B]{2}))*['\u2018-\u201B]/.exec(rest) ?? [];
      words.push(quoted.slice(1, -1).replace(/(['\u2018-\u201B])['\u2018-\u201B]/g, '$1'));
      rest = rest.slice(quoted.length);
    } else {
      const [bare = ''] = /^[^ \t]+/.exec(rest) ?? [];
      words.push(bareInPowershell(bare));
      rest = rest.slice(bare.length);
    }
  }
  return words;
}

const NUMBER = /^[+-]?(?:0[xb][0-9a-f_]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:u?[ysln]|d)?(?:[kmgtp]b)?$/i;

/** A word without quotes; throws where PowerShell makes something else of it. */
function bareInPowershell(word: string): string {
  if (/[\s'"\u2018-\u201E`$(){};,|&<>\r\n]/.test(word) || /^[@#]/.test(word))
    throw new Error(`PowerShell reads ${word}`);
  if (/^[-\u2013-\u2015][A-Za-z_?]/.test(word) && /[.:]/.test(word)) throw new Error(`PowerShell splits ${word}`);
  if (word === '--' || word.startsWith('--%')) throw new Error(`PowerShell takes ${word} for itself`);
  if (NUMBER.test(word) && word !== String(Number(word))) throw new Error(`PowerShell takes ${word} for a number`);
  return word;
}

/** The command line that Windows PowerShell 5.1 makes of arguments: quotes around blanks, and nothing escaped. */
export function legacyCommandLine(args: readonly string[]): string {
  return args.map((arg) => (needsQuotes(arg) ? `"${arg}"` : arg)).join(' ');
}

function needsQuotes(arg: string): boolean {
  let quotes = 0;
  for (let at = 0; at < arg.length; at++) {
    if (arg.charAt(at) === '"' && arg.charAt(at - 1) !== '\\') quotes++;
    else if (/\s/.test(arg.charAt(at)) && quotes % 2 === 0) return true;
  }
  return false;
}
