import type { FlagInput } from '@oclif/core/interfaces';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { localTimesFlag, outputFlags, reportFormat, rowFlags } from '../flags/output.ts';
import { zoneFlags } from '../flags/zone.ts';
import { asking } from './spec.ts';

const { text, list, toggle } = asking;

/** Flags of every report; those of one report take their place. */
export const officeFlags: FlagInput = {
  location: list('A,B', 'Only these locations, by id or name; all when not given, or ALL', { means: 'location' }),
  fresh: text('TIME', 'Sync the mirror first when it is older than this, such as 1h; 15m when not given, 0: always'),
  offline: toggle('Send nothing: the mirror as it is'),
  explain: toggle('Run nothing; print what the report counts, and its SQL or requests'),
  sort: rowFlags.sort,
  limit: { ...rowFlags.limit, summary: 'Show N rows; totals are of all' },
  all: rowFlags.all,
  ...outputFlags,
  ...reportFormat,
  fields: { ...outputFlags.fields, summary: 'Columns to show, such as start,patient,phone' },
  ...localTimesFlag,
  'split-by': text(undefined, 'A file for each location, in the folder of --to', { options: ['location'] }),
  to: list('DIR', 'Folder of the files of --split-by; created if missing'),
  ...zoneFlags,
  ...talkFlags,
  ...connectionFlags,
};
