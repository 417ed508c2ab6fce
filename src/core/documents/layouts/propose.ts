import { withoutExtension } from '../uploads/draft.ts';
import { matchPattern, type PathFacts, type Pattern, readPattern } from './pattern.ts';

/** A pattern for files that none fits, and how many of them it fits. */
export interface Proposal {
  readonly pattern: string;
  readonly files: number;
}

/** Files that a proposal is made from: more would hardly change it. */
const MAX_FILES = 200;

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

const SEPARATORS = [' - ', '_', '-', ' '];

/** Ways of writing whose a folder or a file is, the surest first. */
const OWNERS: readonly string[] = [
  ...['{id}', ...SEPARATORS.map((between) => `{id}${between}{*}`)],
  ...dated('birthDate').flatMap((date) => [
    `{last}, {first} ${date}`,
    `{last}, {first} (${date})`,
    `{last}_{first}_${date}`,
    `{last} {first} ${date}`,
  ]),
  ...['{last}, {first} ({chartNumber})', '{last}, {first} {chartNumber}', '{last}_{first}_{chartNumber}'],
  ...['{chartNumber}', ...SEPARATORS.map((between) => `{chartNumber}${between}{*}`)],
  '{last}, {first}',
];

/** Ways of naming a file, those with a date first. */
const NAMES: readonly string[] = [
  ...dated('date')
    .flatMap((date) => SEPARATORS.flatMap((between) => [date + between, between + date]))
    .map((date) => (date.startsWith('{') ? `${date}{name}` : `{name}${date}`)),
  '{name}',
];

const asOwner = OWNERS.map(readPattern);
/** A pattern needs somebody to find: a folder with an id stands before the name. */
const asName = NAMES.map((text) => readPattern(`{id}/${text}`));
const inOneName = OWNERS.filter((text) => !text.includes('{*}')).flatMap((owner) =>
  SEPARATORS.map((between) => readPattern(`${owner}${between}{name}`)),
);

/** The pattern that reads a path as people would: the owner is in the folder that says it best, or in the file's name. */
function patternOf(path: string): string | undefined {
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  const fits = folders.map((folder) => asOwner.findIndex((pattern) => fitsPlausibly(pattern, folder)));
  const best = Math.min(...fits.filter((fit) => fit >= 0));
  const owner = OWNERS[best];
  if (owner === undefined) {
    const whole = inOneName.find((pattern) => fitsPlausibly(pattern, file));
    const rest = whole && matchPattern(whole, file)?.name;
    return rest && [...folders.map(() => '{*}'), whole.text.replace('{name}', nameOf(rest))].join('/');
  }
  const at = fits.indexOf(best);
  const parts = folders.map((_, other) => (other < at ? '{*}' : other === at ? owner : '{tag}'));
  return [...parts, nameOf(file)].join('/');
}

function nameOf(text: string): string {
  return NAMES[asName.findIndex((pattern) => matchPattern(pattern, `1/${text}`) !== undefined)] ?? '{name}';
}

function fitsPlausibly(pattern: Pattern, text: string): boolean {
  const facts = matchPattern(pattern, text);
  return facts !== undefined && isPlausible(facts);
}

/** Whether values look like what they are taken for: the patterns tried here would fit nearly anything. */
function isPlausible({ id, chartNumber, last, first }: PathFacts): boolean {
  const isName = (text: string | undefined) => text === undefined || /^\p{L}[^\d_]*$/u.test(text);
  // Ids of the API are long; a shorter number is one of the practice's own.
  const isId = id === undefined || id.length > 9;
  const isChart =
    chartNumber === undefined || /^(?=.*\d)(?!\d{4}-\d\d-\d\d)[\p{L}\d][\p{L}\d.#-]{0,19}$/u.test(chartNumber);
  return isName(last) && isName(first) && isId && isChart;
}
