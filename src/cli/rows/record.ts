import type { Fields } from '../../catalog/fields/kind.ts';
import { Failure, localFailure } from '../../core/failure.ts';
import { withNames } from '../../core/names/namecolumns.ts';
import { openAtomicFile } from '../../core/output/atomicfile.ts';
import { type Column, columnsOf, valueAt } from '../../core/output/columns.ts';
import { FORMATS, terminalSafe } from '../../core/output/formats.ts';
import { streamSink } from '../../core/output/sink.ts';
import type { Row } from '../../core/pages/page.ts';
import type { Context } from '../context.ts';
import { type Destination, readDestination } from '../flags/output.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { zoneText } from '../flags/zone.ts';
import { readNames, readZones } from '../names/profilenames.ts';
import { Notes } from '../terminal/notes.ts';
import { writerOptions } from './output.ts';
import { clocksOf } from './places.ts';
import { readSelection } from './plan.ts';

/** What the flags say about the output of one record. */
export interface RecordPlan extends Destination {
  readonly selection: readonly string[] | undefined;
}

/** Reads and checks the output flags of a command that shows one record; JSON unless it goes to a terminal. */
export function planRecord(flags: FlagValues, fields: Fields, context: Context): RecordPlan {
  const destination = readDestination(flags, context.streams.stdout.isTTY, 'json', 'record');
  return { ...destination, selection: readSelection(flags, fields) };
}

/**
 * Gets a record with the output open, and writes it; the output stays as it was when anything fails. `done` says of a
 * write what it did, for when that cannot be shown any more.
 */
export async function writeRecord(
  plan: RecordPlan,
  fields: Fields,
  flags: FlagValues,
  context: Context,
  get: () => Promise<Row>,
  done?: (record: Row) => string,
): Promise<void> {
  const { format, selection, out, toTerminal } = plan;
  // Before the request, so that a file that cannot be written costs nothing.
  const sink = out === undefined ? streamSink(context.streams.stdout.write) : await openAtomicFile(out);
  let record: Row | undefined;
  try {
    record = await get();
    const { named, ...places } = placesOf(record, plan, fields, flags, context);
    const text = await FORMATS[format].record?.(named, {
      ...{ ...writerOptions(toTerminal, flags, context), ...places },
      fields,
      selection,
    });
    if (text === undefined) throw new Error(`${format} does not hold a single record.`);
    await sink.write(toTerminal ? terminalSafe(format)(text) : text);
    await sink.commit();
  } catch (cause) {
    await sink.abort();
    if (record === undefined || done === undefined || !(cause instanceof Failure)) throw cause;
    throw localFailure('local.file', `${cause.message} ${done(record)}`, { cause, hint: 'Do not send it again.' });
  }
  await sayZone(record, plan, fields, flags, context);
}

/** The record with names, and its clock, in a format that has them. */
function placesOf(record: Row, { format, selection }: RecordPlan, fields: Fields, flags: FlagValues, { env }: Context) {
  if (!FORMATS[format].isLocal) return { named: record };
  const names = readNames(flags, env);
  const clockOf = clocksOf(fields, flags, readZones(flags, env, names));
  const rows = withNames(columnsOf(fields, selection), fields, names);
  return { named: rows?.add(record) ?? record, clockOf, shown: rows?.columns };
}

/** Says which zone the times of a record on a terminal are in. */
async function sayZone(record: Row, plan: RecordPlan, fields: Fields, flags: FlagValues, context: Context) {
  if (!FORMATS[plan.format].isForPeople || isOn(flags, 'quiet')) return;
  const isTime = (column: Column) => column.kind === 'dateTime' && valueAt(record, column) != null;
  if (!columnsOf(fields, plan.selection).some(isTime)) return;
  const zones = readZones(flags, context.env);
  const text = zones.areSeveral ? `Times in ${clocksOf(fields, flags, zones)(record).zone}` : zoneText(flags, context);
  await new Notes(context.streams.stderr, false).say(`${text}.`);
}
