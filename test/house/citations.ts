import type { TreeFile } from './tree.ts';

/** What there is to cite, as docs/decisions.md and docs/contract.md have it. */
export interface Citable {
  /** Numbers of the decisions, in the order of their headings. */
  readonly decisions: readonly number[];
  /** Numbers of the contract's sections, in their order. */
  readonly sections: readonly number[];
  /** Headings of the specification. */
  readonly headings: readonly string[];
}

/** A decision's number as a word of its own; within paths, hexadecimal digits and longer words it is data. */
const DECISION = /(?<![\w\\#%+=./-])D(\d{1,2})(?![\w/=]|-\w)/g;
/** A range of decisions, both ends included. */
const RANGE = /(?<!\w)D(\d{1,2})–D(\d{1,2})(?!\w)/g;
/** A section of the contract, and further ones after a comma or an "and". */
const SECTIONS = /(?:(?<before>[\w.-]+)\s+)?contract\s+\u00a7\d+(?:(?:,|\s+and)\s+\u00a7\d+)*/g;
/** Words that may stand before the name of a document without being part of it. */
const LINKS: readonly (string | undefined)[] = [undefined, 'by', 'in', 'of', 'see', 'the'];
const SPECIFICATION = /\(specification,\s+([^;()]+)/g;
/** What may follow a heading of the specification: a rule, its number or a detail. */
const DETAIL = /^(?: rules? \d.*| \d+|: .+)?$/;
const RULE = /^(?:paging )?rules? \d/i;

/** What the two pages have to cite. */
export function citable(decisions: string, contract: string): Citable {
  const [, cited = ''] = contract.split('\n## How the specification is cited\n');
  const rows = cited.match(/^- .*(?:\n {2}.*)*/gm)?.join('\n') ?? '';
  return {
    decisions: numbersOf(decisions, /^### D(\d+) \S/gm),
    sections: numbersOf(contract, /^## (\d+)\. \S/gm),
    headings: [...rows.matchAll(/`([^`\n]+)`/g)].map(([, heading = '']) => heading),
  };
}

function numbersOf(markdown: string, heading: RegExp): number[] {
  return [...markdown.matchAll(heading)].map(([, number]) => Number(number));
}

/** Numbers of headings that are not in sequence: they must count up from 1, without a gap or a repetition. */
export function disorder(numbers: readonly number[]): string[] {
  return numbers.flatMap((number, at) => (number === at + 1 ? [] : [`${number} is where ${at + 1} should be`]));
}

/** Citations in a file that lead nowhere, each with its line. */
export function deadCitations({ path, text }: TreeFile, citable: Citable): string[] {
  const flat = flattened(text);
  return [...deadDecisions(flat, citable), ...deadSections(flat, citable), ...deadHeadings(flat, citable)]
    .sort((a, b) => a.at - b.at)
    .map(({ at, problem }) => `${path}:${text.slice(0, at).split('\n').length} ${problem}`);
}

interface Dead {
  readonly at: number;
  readonly problem: string;
}

/** The same text, as long as it was, with line ends and the marks of comment lines blanked, so that a citation may wrap. */
function flattened(text: string): string {
  return text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/+)?/g, (end) => ' '.repeat(end.length));
}

function deadDecisions(flat: string, { decisions }: Citable): Dead[] {
  const single = [...flat.matchAll(DECISION)].filter((match) => !isQuoted(match));
  const cited = single.map(({ index, 1: number }) => ({ at: index, number: Number(number) }));
  for (const { index, 1: first, 2: last } of flat.matchAll(RANGE)) {
    for (let number = Number(first) + 1; number < Number(last); number++) cited.push({ at: index, number });
  }
  return cited
    .filter(({ number }) => !decisions.includes(number))
    .map(({ at, number }) => ({ at, problem: `cites D${number}, which docs/decisions.md does not have` }));
}

/** Whether quotes enclose the match and nothing else. */
function isQuoted({ index, input, 0: { length } }: RegExpExecArray): boolean {
  const before = input.charAt(index - 1);
  return /['"`]/.test(before) && input.charAt(index + length) === before;
}

function deadSections(flat: string, { sections }: Citable): Dead[] {
  const named = [...flat.matchAll(SECTIONS)].filter(({ groups }) => LINKS.includes(groups?.before));
  return [...flat.matchAll(/\u00a7(\d*)/g)].flatMap(({ index: at, 1: number = '' }) => {
    const isNamed = named.some(({ index, 0: { length } }) => index < at && at < index + length);
    if (!isNamed) return [{ at, problem: `cites section ${number} of no document that docs/ has` }];
    return sections.includes(Number(number))
      ? []
      : [{ at, problem: `cites section ${number}, which docs/contract.md does not have` }];
  });
}

function deadHeadings(flat: string, { headings }: Citable): Dead[] {
  const exists = (part: string) =>
    headings.some((heading) => part.startsWith(heading) && DETAIL.test(part.slice(heading.length)));
  return [...flat.matchAll(SPECIFICATION)].flatMap(({ index: at, 1: cited = '' }) => {
    const [first = '', ...others] = cited.trim().replace(/\s+/g, ' ').split(', ');
    return [first, ...others.filter((other) => !RULE.test(other))]
      .filter((part) => !exists(part))
      .map((part) => ({ at, problem: `cites "${part}", which is no heading of the specification` }));
  });
}
