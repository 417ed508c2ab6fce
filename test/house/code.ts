const BEFORE_REGEX = /(?:^|[=(,:[!&|?{};+\-*%<>~^]|\breturn|\btypeof|\bcase|=>)\s*$/;

/**
 * TypeScript with the insides of comments, strings, templates and regular expressions blanked, so that a search finds
 * code only. Line breaks and what stands in `${}` are kept.
 */
export function codeOf(source: string): string {
  return new Scanner(source).code('');
}

class Scanner {
  private at = 0;
  private readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** Reads code up to an unmatched `stop`, which is left in place. */
  code(stop: '' | '}'): string {
    let out = '';
    let depth = 0;
    while (this.at < this.source.length) {
      const char = this.source.charAt(this.at);
      if (stop === '}' && char === '}' && depth === 0) return out;
      if (char === '{') depth++;
      if (char === '}') depth--;
      out += this.piece(char, out);
    }
    return out;
  }

  private piece(char: string, before: string): string {
    if (this.source.startsWith('//', this.at)) return this.skip(/[^\n]*/y);
    if (this.source.startsWith('/*', this.at)) return this.skip(/\/\*[\s\S]*?\*\//y);
    if (char === "'" || char === '"') return char + this.skip(/(['"])(?:\\[\s\S]|(?!\1)[^\\\n])*\1?/y) + char;
    if (char === '`') return this.template();
    if (char === '/' && BEFORE_REGEX.test(before))
      return `/${this.skip(/\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/?/y)}/`;
    this.at++;
    return char;
  }

  private template(): string {
    let out = '`';
    this.at++;
    while (this.at < this.source.length) {
      if (this.source.startsWith('${', this.at)) {
        this.at += 2;
        out += `\${${this.code('}')}}`;
        this.at++;
      } else if (this.source.charAt(this.at) === '`') {
        this.at++;
        return `${out}\``;
      } else {
        out += this.skip(/\\[\s\S]|[^\\`]/y);
      }
    }
    return out;
  }

  /** Goes past what the pattern matches here; gives the line breaks in it. */
  private skip(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const text = pattern.exec(this.source)?.[0] ?? this.source.charAt(this.at);
    this.at += text.length;
    return text.replace(/[^\n]+/g, '');
  }
}
