import { quoteWord } from './quote.ts';
import type { Shell } from './shell.ts';

/** Part of a word: text, the user's folder, or what is in a file. `isBare`: text that stood without quotes. */
type Part =
  | { readonly text: string; readonly isBare: boolean }
  | { readonly home: true }
  | { readonly contents: string };
type Token = { readonly word: readonly Part[] } | { readonly operator: string };

/** What stands for itself, or is quoted, or is one of the few other forms that lines here have. */
const PIECE =
  /(?<blank>\s+)|(?<operator>\||>>?|<)|(?<home>\$HOME\b|~(?=\/))|"\$\(cat (?<contents>[\w./-]+)\)"|'(?<single>[^']*)'|"(?<double>[^"\\$`]*)"|\\(?<escaped>.)|(?<bare>[\w.,:/@=+%*?-]+)/y;

/**
 * A line of a POSIX shell as it is typed into the user's. Undefined where that shell has no such line: in cmd none takes
 * a word from a file, and only molar is known to be there.
 */
export function inShell(line: string, shell: Shell): string | undefined {
  if (shell === 'sh') return line;
  const tokens = tokensOf(line);
  if (tokens === undefined || !startsOnlyMolar(tokens)) return undefined;
  const operators = tokens.flatMap((token) => ('operator' in token ? [token.operator] : []));
  // Windows PowerShell decodes and encodes whatever passes between programs, or to a file.
  if (shell === 'powershell' && operators.length > 0) return throughCmd(line);
  if (shell === 'pwsh' && operators.includes('<')) return undefined;
  const typed = tokens.map((token) => ('operator' in token ? token.operator : typedWord(token.word, shell)));
  return typed.includes(undefined) ? undefined : typed.join(' ');
}

function throughCmd(line: string): string | undefined {
  const typed = inShell(line, 'cmd');
  return typed === undefined || typed.includes('"') ? undefined : `cmd /c ${quoteWord(typed, 'powershell')}`;
}

function tokensOf(line: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  let word: Part[] = [];
  const endWord = () => {
    if (word.length > 0) tokens.push({ word });
    word = [];
  };
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < line.length) {
    const { blank, operator, home, contents, bare, ...quoted } = PIECE.exec(line)?.groups ?? {};
    const text = quoted.single ?? quoted.double ?? quoted.escaped;
    if (blank !== undefined || operator !== undefined) endWord();
    if (operator !== undefined) tokens.push({ operator });
    else if (home !== undefined) word.push({ home: true });
    else if (contents !== undefined) word.push({ contents });
    else if (bare !== undefined) word.push({ text: bare, isBare: true });
    else if (text !== undefined) word.push({ text, isBare: false });
    else if (blank === undefined) return undefined;
  }
  endWord();
  return tokens;
}

/** Whether molar is the only program of the line. */
function startsOnlyMolar(tokens: readonly Token[]): boolean {
  return tokens.every((token, at) => {
    const before = tokens[at - 1];
    const isFirst = before === undefined || ('operator' in before && before.operator === '|');
    return !isFirst || ('word' in token && token.word.length === 1 && isText(token.word[0], 'molar'));
  });
}

function isText(part: Part | undefined, text: string): boolean {
  return part !== undefined && 'text' in part && part.text === text;
}

const HOMES = { powershell: '$HOME', pwsh: '$HOME', cmd: '%USERPROFILE%' };

function typedWord(word: readonly Part[], shell: Exclude<Shell, 'sh'>): string | undefined {
  const [first, ...rest] = word;
  if (first !== undefined && 'contents' in first) {
    return rest.length === 0 && shell !== 'cmd' ? `(Get-Content ${first.contents})` : undefined;
  }
  const isInHome = first !== undefined && 'home' in first;
  const texts = (isInHome ? rest : word).flatMap((part) => ('text' in part ? [part] : []));
  if (texts.length < word.length - Number(isInHome)) return undefined;
  const text = texts.map((part) => part.text).join('');
  if (isInHome) return /^[\w./-]*$/.test(text) ? `"${HOMES[shell]}${text}"` : undefined;
  // PowerShell outside of Windows expands wildcards, as long as they are not quoted.
  const isPattern = texts.every(({ isBare }) => isBare) && /[*?]/.test(text);
  return isPattern && quoteWord(text.replace(/[*?]/g, ''), shell) === text.replace(/[*?]/g, '')
    ? text
    : quoteWord(text, shell);
}
