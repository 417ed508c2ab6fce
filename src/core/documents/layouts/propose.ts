import { withoutExtension } from '../uploads/draft.ts';
import { matchPattern, type PathFacts, type Pattern, readPattern } from './pattern.ts';

/** A pattern for files that none fits, and how many of them it fits. */
export interface Proposal {
  readonly pattern: string;
  readonly files: number;
}

/** Files that a proposal is made from: more would hardly change it. */
const MAX_FILES = 1000;

/** Proposes the pattern that fits the most of some paths inside their folder; undefined where none is known. */
export function proposePattern(paths: readonly string[]): Proposal | undefined {
  const found = new Set(paths.slice(0, MAX_FILES).flatMap((path) => patternOf(withoutExtension(path)) ?? []));
  const proposals = [...found].map((pattern) => {
    const read = readPattern(pattern);
    return { pattern, files: paths.filter((path) => matchPattern(read, withoutExtension(path))).length };
  });
  return proposals.sort((one, other) => other.files - one.files)[0];
}

/** Ways of writing a date, those that need no format first. */
const DATES = ['', ':MM-DD-YYYY', ':MM.DD.YYYY', ':MM_DD_YYYY', ':MMDDYYYY'];
const dated = (field: string) => DATES.map((format) => `{${field}${format}}`);

/** Ways of writing whose a folder or a file is, the surest first. */
const OWNERS: readonly string[] = [
  '{id}',
  ...dated('birthDate').flatMap((date) => [
    `{last}, {first} ${date}`,
    `{last}, {first} (${date})`,
    `{last}_{first}_${date}`,
    `{last} {first} ${date}`,
  ]),
  ...['{last}, {first} ({chartNumber})', '{last}, {first} {chartNumber}', '{last}_{first}_{chartNumber}'],
  '{chartNumber}',
  ...['_', ' - ', ' ', '-'].flatMap((separator) => [`{id}${separator}{*}`, `{chartNumber}${separator}{*}`]),
  '{last}, {first}',
];

const SEPARATORS = [' - ', '_', '-', ' '];

/** Ways of naming a file, those with a date first. */
const NAMES: readonly string[] = [
  ...dated('date')
    .flatMap((date) => SEPARATORS.flatMap((between) => [date + between, between + date]))
    .map((date) => (date.startsWith('{') ? `${date}{name}` : `{name}${date}`)),
  '{name}',
];

const asOwner = OWNERS.map((text) => readPattern(text));
/** A pattern needs somebody to find: a folder with an id stands before the name. */
const asName = NAMES.map((text) => readPattern(`{id}/${text}`));
const inOneName = OWNERS.filter((text) => !text.includes('{*}')).flatMap((owner) =>
  SEPARATORS.flatMap((between) => NAMES.map((name) => readPattern(owner + between + name))),
);

/** The first pattern that reads a path as people would: the owner in a folder, or in the name of the file. */
function patternOf(path: string): string | undefined {
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  for (const [at, folder] of folders.entries()) {
    const owner = firstFit(asOwner, folder);
    const name = owner && firstFit(asName, `1/${file}`)?.slice('{id}/'.length);
    if (name === undefined) continue;
    const others = folders.map((_, other) => (other < at ? '{*}' : other === at ? owner : '{tag}'));
    return [...others, name].join('/');
  }
  const name = firstFit(inOneName, file);
  return name && [...folders.map(() => '{*}'), name].join('/');
}

function firstFit(patterns: readonly Pattern[], text: string): string | undefined {
  return patterns.find((pattern) => {
    const facts = matchPattern(pattern, text);
    return facts !== undefined && isPlausible(facts);
  })?.text;
}

/** Whether values look like what they are taken for: the patterns tried here would fit nearly anything. */
function isPlausible({ id, chartNumber, last, first }: PathFacts): boolean {
  const isName = (text: string | undefined) => text === undefined || /^\p{L}[^\d_]*$/u.test(text);
  // Ids of the API are long; a shorter number is one of the practice's own.
  const isId = id === undefined || id === '1' || id.length > 9;
  const isChart = chartNumber === undefined || /^(?=.*\d)[\p{L}\d][\p{L}\d.#-]{0,19}$/u.test(chartNumber);
  return isName(last) && isName(first) && isId && isChart;
}
