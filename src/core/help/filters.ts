import { RESOURCES } from '../../catalog/catalog.ts';
import { OPERATOR_MEANINGS } from '../../catalog/operators.ts';
import type { Page } from './page.ts';

/** Grammar, operators and keys of `--filter`, from the catalog. */
export const FILTERS: Page = {
  name: 'filters',
  about: 'how --filter chooses records, and the keys of each resource',
  sections: [
    {
      heading: 'Terms',
      blocks: [
        'A filter is one or more terms: key, operator, value. All terms must hold. Give --filter once for each term, or join terms by commas. Filters are checked before any request is sent.',
        {
          code: [
            "molar patients list --filter 'lastName~=Sm' --filter 'patientStatus==ACTIVE'",
            "molar patients list --filter 'lastName~=Sm,patientStatus==ACTIVE'",
          ],
        },
        'Put a filter in single quotes: the shell would take > and < for itself.',
      ],
    },
    { heading: 'Operators', blocks: [{ rows: Object.entries(OPERATOR_MEANINGS) }] },
    {
      heading: 'Values',
      blocks: [
        'Put a value that holds a comma, quote or bracket in double quotes. Dates are written 2026-03-02, date-times 2026-03-02T14:30:00Z. Locations are ids, or ALL where a key takes it.',
        'The API specifies those quotes for lists alone. Where a key takes ->, molar sends a list in place of ==; where it takes none, it sends the quotes and warns, since a service may take them for part of the value and find nothing.',
        "Where a key is a date-time, a date stands for the midnight it begins with. That midnight, and a time without a zone, is taken in the zone of --timezone, else in the configured one (molar config set timezone America/Denver), else in this computer's, and sent as an instant.",
        'Values are sent as the API spells them, in whatever letter case they were typed: active as ACTIVE, TRUE as true.',
        { code: ['molar documents list --filter \'tags->["X-Ray, left",Perio]\''] },
      ],
    },
    {
      heading: 'Flags that stand for a term',
      blocks: [
        'Common terms have flags of their own, which --help of a command lists: --status ACTIVE, --location 5,6, --modified-since 2026-01-01. --to with a date means through that day.',
      ],
    },
    {
      heading: 'Keys',
      blocks: RESOURCES.flatMap(({ name, operations }) => {
        const keys = Object.values((operations.list ?? operations.report ?? operations.async)?.filters ?? {});
        if (keys.length === 0) return [];
        return [
          `${name}:`,
          {
            rows: keys.map(({ key, operators, about, required }): readonly [string, string] => [
              `${key} ${operators.join(' ')}`,
              `${about}${required ? ' (required)' : ''}`,
            ]),
          },
        ];
      }),
    },
  ],
};
