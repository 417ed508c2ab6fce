import { offsetsOf } from '../mirror/sql/offsets.ts';
import type { LocalClock } from '../output/localclock.ts';
import { textSql, textsSql } from './sqltext.ts';

/** What SQLite writes otherwise than PostgreSQL; all else in the statements of reports is SQL of both. */

/** Years in which changes of the clock are looked for; they are not known for longer. */
const CENTURY = 100;

/** The local date by a clock of an instant, which is between two others: UTC as a mirror stores it. */
export function localDateSql(instant: string, clock: LocalClock, since: string, until: string): string {
  const [first, last] = [since, until].map((text) => Number(text.slice(0, 4))) as [number, number];
  const offsets = offsetsOf(clock.zone, [first - 1, Math.min(last + 1, first + CENTURY)]);
  const date = (seconds = 0) => `date(${instant}, '${seconds} seconds')`;
  const earliest = date(offsets.findLast((offset) => offset.since <= since)?.seconds);
  const cases = offsets
    .filter((offset) => offset.since > since && offset.since < until)
    .map((offset) => `WHEN ${instant} >= '${offset.since}' THEN ${date(offset.seconds)}`);
  return cases.length === 0 ? earliest : `CASE ${cases.toReversed().join(' ')} ELSE ${earliest} END`;
}

/** Whether a text has a digit. */
export function hasDigitSql(text: string): string {
  return `${text} GLOB '*[0-9]*'`;
}

/** The year of a date. */
export function yearSql(date: string): string {
  return `CAST(substr(${date}, 1, 4) AS INTEGER)`;
}

/** The month and the day of a date, `MM-DD`. */
export function monthDaySql(date: string): string {
  return `substr(${date}, 6)`;
}

/** Whole months from a date up to another, which is given: those after which its day of the month has come. */
export function monthsSinceSql(date: string, today: string): string {
  const [year, month, day] = today.split('-').map(Number) as [number, number, number];
  const months = `${year * 12 + month} - ${yearSql(date)} * 12 - CAST(substr(${date}, 6, 2) AS INTEGER)`;
  return `${months} - (CAST(substr(${date}, 9, 2) AS INTEGER) > ${day})`;
}

/** Whether a text equals another in any letter case. Of SQLite's own functions none knows the letters beyond ASCII. */
export function equalsIgnoringCaseSql(text: string, other: string): string {
  const wanted = other.trim().normalize('NFC').toLowerCase();
  let [folded, foldedWanted] = [`lower(${text})`, wanted];
  for (const letter of new Set(wanted.match(/[^\p{ASCII}\P{L}]/gu) ?? [])) {
    for (const variant of caseVariants(letter)) {
      folded = `replace(${folded}, ${textSql(variant)}, ${textSql(letter)})`;
      foldedWanted = foldedWanted.replaceAll(variant, letter);
    }
  }
  return `${folded} IN ${textsSql([...new Set([foldedWanted, foldedWanted.normalize('NFD')])])}`;
}

/** The code points between which letters beyond ASCII have a case. */
const [FIRST_LETTER, LAST_CASED] = [0x80, 0x1ea00];

/** All of them in one text, which is made when the first is looked for. */
let cased: string | undefined;

/** Letters beyond ASCII that differ from one in case only, as `É` does from `é`. */
function caseVariants(letter: string): string[] {
  cased ??= Array.from({ length: LAST_CASED - FIRST_LETTER }, (_, at) => String.fromCodePoint(FIRST_LETTER + at)).join(
    '',
  );
  return (cased.match(new RegExp(letter, 'giu')) ?? []).filter((variant) => variant !== letter);
}

/** The texts of the tags in a transaction as it came, in the order of their keys; `record`: JSON. */
export function tagsOfRecordSql(record: string): string {
  return `(SELECT string_agg(g.tag_text, '; ' ORDER BY CAST(l.key AS INTEGER))
      FROM json_each(${record}, '$.transactionTags') AS l JOIN transaction_tags AS g ON g.id = json_extract(l.value, '$.id'))`;
}
