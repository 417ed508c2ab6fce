import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { filterKeys, key } from '../../catalog/define.ts';
import type { Fields } from '../../catalog/fields/kind.ts';
import { asId, integer } from '../../catalog/fields/numbers.ts';
import { text } from '../../catalog/fields/text.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { parseFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import { idValue, locationValue } from '../../catalog/filter/values.ts';
import { EQUALS_IN, IN } from '../../catalog/operators.ts';
import { readOnly } from '../../catalog/record.ts';
import { agingFields, agingFilters, agingRecordFields } from '../../catalog/resources/reports.ts';
import { usageFailure } from '../../core/failure.ts';
import { commonFlags } from '../crud/resourcecommand.ts';
import { filterFlags, readFilter } from '../flags/filters.ts';
import { outputFlags, reportFormat, rowFlags } from '../flags/output.ts';
import type { FlagValues } from '../flags/values.ts';
import { pingFlags } from '../ping.ts';

const { page: _page, ...apiKeys } = agingFilters;

/** Keys of the complete report: several locations, any number of guarantors, and no page, since every one is fetched. */
const KEYS: FilterKeys = {
  ...apiKeys,
  ...filterKeys({
    'location.id': key(EQUALS_IN, locationValue, 'Location', { flags: { location: '->' }, required: true }),
    'patient.id': key(IN, idValue, 'Guarantors, by their patient ids', { flags: { patient: '->' } }),
  }),
};

export const agingFlags: FlagInput = {
  ...filterFlags(KEYS),
  'totals-only': Flags.boolean({
    helpGroup: 'OUTPUT',
    summary: 'No guarantors: one row for each location, and one for ALL',
  }),
  limit: { ...rowFlags.limit, summary: 'Show N guarantors; totals are of all' },
  all: { ...rowFlags.all, summary: 'Every guarantor; the default unless a table goes to a terminal' },
  sort: rowFlags.sort,
  ...pingFlags,
  ...commonFlags,
  ...reportFormat,
  fields: { ...outputFlags.fields, summary: 'Fields to show, such as location,id,lastName,balance' },
};

/** Columns of a guarantor's row: its location in front of the fields of the API. */
export const GUARANTOR_FIELDS: Fields = {
  location: readOnly(text(), 'Location, or ALL'),
  ...agingRecordFields,
};

const { patientReports: _records, ...sums } = agingFields;

/** Columns of a location's row. */
export const TOTAL_FIELDS: Fields = {
  location: readOnly(text(), 'Location, or ALL'),
  guarantors: readOnly(integer(), 'Number of guarantors'),
  ...sums,
};

/** What the filter flags select. */
export interface AgingQuery {
  /** Ids as text, or `ALL`; each once, in the order given. */
  readonly locations: readonly string[];
  readonly guarantors: readonly string[] | undefined;
  readonly terms: readonly RawTerm[];
}

/** Reads and checks the filter flags. Throws a Refusal or a Failure (exit 2). */
export function readAgingQuery(flags: FlagValues): AgingQuery {
  const terms = parseFilter(readFilter(flags, KEYS) ?? '');
  const locations = onlyTerm(terms, 'location.id', '--location')?.values.map(locationName) ?? [];
  const guarantors = onlyTerm(terms, 'patient.id', '--patient')?.values.map((id) => String(asId(id)));
  return {
    locations: [...new Set(locations)],
    guarantors: guarantors && [...new Set(guarantors)],
    terms: terms.filter(({ key: name }) => name !== 'location.id' && name !== 'patient.id'),
  };
}

function onlyTerm(terms: readonly RawTerm[], name: string, source: string): RawTerm | undefined {
  const [term, another] = terms.filter((each) => each.key === name);
  if (another === undefined) return term;
  throw usageFailure(`The filter names ${name} more than once; give one list, such as ${source} 5,6.`, { source });
}

function locationName(value: string): string {
  const id = asId(value);
  return id === undefined ? 'ALL' : String(id);
}
