// What `npm run test:mutants` has found last, file by file: scores.tsv beside this file.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const FILE = join(import.meta.dirname, 'scores.tsv');
const GOAL = 0.9;

/**
 * How many of the faults that were put into a file its tests have found. `measured`: a day, YYYY-MM-DD; `remark` is kept
 * until the file is measured again.
 * @typedef {{ area: string, file: string, found: number, faults: number, measured: string, remark: string }} Score
 */

/** @returns {Score[]} */
export function readScores() {
  const [, ...lines] = readFileSync(FILE, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [area = '', file = '', found, faults, measured = '', remark = ''] = line.split('\t');
    return { area, file, found: Number(found), faults: Number(faults), measured, remark };
  });
}

/**
 * Keeps what a run has found instead of what was known of its files, and returns it.
 * @param {string} area
 * @param {readonly { readonly fileName: string, readonly status: string }[]} results one for each fault
 * @returns {Score[]}
 */
export function keepScores(area, results) {
  const measured = new Date().toISOString().slice(0, 10);
  /** @type {Score[]} */
  const made = [];
  const nameOf = (/** @type {{ fileName: string }} */ { fileName }) => relative(ROOT, resolve(ROOT, fileName));
  for (const file of new Set(results.map(nameOf))) {
    const own = results.filter((result) => nameOf(result) === file);
    const count = (/** @type {string[]} */ ...states) => own.filter(({ status }) => states.includes(status)).length;
    const [found, missed] = [count('Killed', 'Timeout'), count('Survived', 'NoCoverage')];
    if (found + missed > 0) made.push({ area, file, found, faults: found + missed, measured, remark: '' });
  }
  const kept = readScores().filter((score) => !made.some(({ file }) => file === score.file));
  const sorted = [...kept, ...made].sort((a, b) => (`${a.area} ${a.file}` < `${b.area} ${b.file}` ? -1 : 1));
  const lines = sorted.map((each) =>
    [each.area, each.file, each.found, each.faults, each.measured, each.remark].join('\t'),
  );
  writeFileSync(FILE, `${['area\tfile\tfound\tfaults\tmeasured\tremark', ...lines].join('\n')}\n`);
  return made;
}

/**
 * The table of docs/testing.md: what was found in each area, and in which of its files less than the goal.
 * @param {readonly Score[]} scores
 */
export function scoreTable(scores) {
  const percent = (/** @type {number} */ found, /** @type {number} */ faults) => Math.floor((100 * found) / faults);
  const rows = [...new Set(scores.map(({ area }) => area))].map((area) => {
    const own = scores.filter((score) => score.area === area);
    const sum = (/** @type {'found' | 'faults'} */ what) => own.reduce((all, score) => all + score[what], 0);
    const below = own
      .filter(({ found, faults }) => found < GOAL * faults)
      .map(({ file, found, faults }) => `\`${file.replace(/^.*\//, '')}\` ${percent(found, faults)}`);
    return [area, own.length, sum('faults'), `${percent(sum('found'), sum('faults'))} %`, below.join(', ')];
  });
  const head = [
    ['Area', 'Files', 'Faults', 'Found', 'Files below 90 %'],
    ['---', '---', '---', '---', '---'],
  ];
  return [...head, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`.replaceAll('  |', ' |')).join('');
}

if (process.argv[1] === import.meta.filename) process.stdout.write(scoreTable(readScores()));
