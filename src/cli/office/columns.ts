import { usageFailure } from '../../core/failure.ts';
import { didYouMean } from '../../core/nearest.ts';
import { PATIENT } from '../../core/office/columns.ts';
import type { OfficeColumn } from '../../core/office/report.ts';
import { rowColumn } from '../../core/office/rowreader.ts';
import { selectedNames } from '../../core/output/columns.ts';
import type { SortKey } from '../../core/sorting/roworder.ts';
import { type FlagValues, textFlag, textFlags } from '../flags/values.ts';

/**
 * The columns of `--fields`, in its order; undefined for all. `patient` stands for id and names of the patient, `location`
 * for its id and name, `phones` for the phones and whose they are. Throws a Failure (exit 2).
 */
export function readFields(flags: FlagValues, columns: readonly OfficeColumn[]): OfficeColumn[] | undefined {
  const text = textFlag(flags, 'fields');
  if (text === undefined) return undefined;
  const names = selectedNames(text);
  if (names === undefined && /^[\s,]*$/.test(text)) {
    throw usageFailure('--fields must name columns.', { source: '--fields' });
  }
  const chosen = names?.flatMap((name) => {
    const found = columns.filter((column) => column.name === name || groupsOf(column).includes(name));
    if (found.length === 0) throw unknown(name, columns, '--fields');
    return found;
  });
  return chosen && [...new Set(chosen)];
}

/** The keys of `--sort a,-b`; undefined without it. Throws a Failure (exit 2). */
export function readKeys(flags: FlagValues, columns: readonly OfficeColumn[]): SortKey[] | undefined {
  const texts = textFlags(flags, 'sort').flatMap((text) => text.split(','));
  if (texts.length === 0) return undefined;
  return texts.map((text) => {
    const descending = text.trim().startsWith('-');
    const name = text.trim().slice(descending ? 1 : 0);
    const column = columns.find((each) => each.name === name);
    if (column !== undefined) return { column: rowColumn(column), descending };
    const parts = columns.filter((each) => groupsOf(each).includes(name)).map((each) => each.name);
    if (parts.length === 0) throw unknown(name, columns, '--sort');
    throw usageFailure(`--sort takes columns with one value: ${name} has ${parts.join(', ')}.`, { source: '--sort' });
  });
}

/** Names that stand for a column among others. */
function groupsOf({ name }: OfficeColumn): readonly string[] {
  const [head = '', part] = name.split('.');
  if (/^phone(?:_\d|Of)?$/.test(head)) return ['phones'];
  return part === undefined || (head === 'patient' && !PATIENT.some((own) => own.name === name)) ? [] : [head];
}

function unknown(name: string, columns: readonly OfficeColumn[], source: string) {
  const known = columns.map((column) => column.name);
  const whole = known.find((each) => each.toLowerCase().endsWith(`.${name.toLowerCase()}`));
  const near = didYouMean(whole ?? name, [...known, ...columns.flatMap(groupsOf)]);
  const what = name === '' ? `${source} must name columns.` : `There is no column ${name}.`;
  return usageFailure(`${what}${near} Columns: ${known.join(', ')}.`, { source });
}
