/** The databases that a mirror can be in. */
export type Engine = 'sqlite' | 'postgres';

/** A piece of SQL: a name, a quoted name, a text, a number, a parameter (`:name`, or `?` and `$1` by position), or else. */
export interface SqlToken {
  readonly kind: 'name' | 'quoted' | 'text' | 'number' | 'parameter' | 'positional' | 'sign';
  /** As it is written. */
  readonly text: string;
  /** Index of its first character. */
  readonly at: number;
}

const LETTER = 'A-Za-z_\\u0080-\\uffff';

/** What is left out: white space and comments, also those that never end. */
const SKIPPED = '\\s+|--[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)';

const QUOTED = '"(?:[^"]|"")*"';

const PARAMETER = `[:@$][${LETTER}][\\w\\u0080-\\uffff]*`;

/** Alternatives in their order, by engine: what one of them takes for a sign begins a text or a name in the other. */
const PATTERNS: Readonly<Record<Engine, RegExp>> = {
  sqlite: pattern({
    text: "[xX]?'(?:[^']|'')*'",
    quoted: `${QUOTED}|\`(?:[^\`]|\`\`)*\`|\\[[^\\]]*\\]`,
    positional: '\\?\\d*',
    sign: '[\\s\\S]',
  }),
  postgres: pattern({
    text: `[eE]'(?:[^'\\\\]|''|\\\\[\\s\\S])*'|[bBxXnN]?'(?:[^']|'')*'|\\$(?<tag>(?:[${LETTER}]\\w*)?)\\$[\\s\\S]*?(?:\\$\\k<tag>\\$|$)`,
    quoted: QUOTED,
    positional: '\\$\\d+',
    // Casts, and operators that hold the sign of a parameter.
    sign: '::|:=|<@|@@@?|@>|@\\?|@-@|[\\s\\S]',
  }),
};

function pattern(own: Readonly<Record<'text' | 'quoted' | 'positional' | 'sign', string>>): RegExp {
  const { text, quoted, positional, sign } = own;
  const operators = sign.split('|').slice(0, -1);
  const parts = [
    `(?<skipped>${SKIPPED})`,
    `(?<text>${text})`,
    `(?<quoted>${quoted})`,
    `(?<name>[${LETTER}][\\w$\\u0080-\\uffff]*)`,
    `(?<number>\\d[\\w.]*|\\.\\d\\w*)`,
    ...(operators.length > 0 ? [`(?<operator>${operators.join('|')})`] : []),
    `(?<parameter>${PARAMETER})`,
    `(?<positional>${positional})`,
    `(?<sign>[\\s\\S])`,
  ];
  return new RegExp(parts.join('|'), 'gy');
}

const KINDS = ['text', 'quoted', 'name', 'number', 'parameter', 'positional'] as const;

/** The tokens of a statement, without white space and comments. Never fails: what no engine knows is a sign. */
export function sqlTokens(sql: string, engine: Engine): SqlToken[] {
  const tokens: SqlToken[] = [];
  for (const { 0: text, index: at, groups = {} } of sql.matchAll(PATTERNS[engine])) {
    if (groups.skipped !== undefined) continue;
    const kind = KINDS.find((name) => groups[name] !== undefined) ?? 'sign';
    tokens.push({ kind, text, at });
  }
  return tokens;
}

/** The name that a token stands for, without its quotes; undefined for what is no name. */
export function nameOf({ kind, text }: SqlToken): string | undefined {
  if (kind === 'name') return text;
  if (kind !== 'quoted') return undefined;
  const [quote = ''] = text;
  return text.slice(1, -1).replaceAll(quote + quote, quote);
}

/** `line 2, column 7` of an index, both from 1. */
export function placeText(sql: string, at: number): string {
  const before = sql.slice(0, at).split('\n');
  return `line ${before.length}, column ${[...(before.at(-1) ?? '')].length + 1}`;
}
