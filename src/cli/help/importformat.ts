import type { Fields } from '../../catalog/fields/kind.ts';
import type { Page } from './pages.ts';

/** What a line of an import may hold, as the server knows it. */
interface ImportKind {
  readonly fields: Fields;
  /** Fields that a record cannot do without. */
  readonly needed: readonly string[];
}

/** The page on the import format (contract §7); the kinds come from the server, which this side does not import. */
export function importPage(
  globals: Readonly<Record<string, Fields>>,
  organization: Fields,
  records: ReadonlyMap<string, ImportKind>,
): Page {
  const kinds: readonly (readonly [string, ImportKind])[] = [
    ['Organization', { fields: organization, needed: requiredOf(organization) }],
    ...records,
    ...Object.entries(globals).map(([type, fields]) => [type, { fields, needed: requiredOf(fields) }] as const),
  ];
  return {
    name: 'import',
    about: 'records to import, one JSON object a line',
    sections: [
      {
        heading: 'Description',
        blocks: [
          'molar server import and molar serve --import read files of NDJSON: UTF-8, one record a line, in any order. A record is known by its organizationId, type and id, and replaces the one that is there. A file is imported completely or not at all: every problem is reported with its line and field.',
          {
            code: [
              '{"type":"Organization","organizationId":"demo","id":"demo","name":"Example Dental","timezone":"America/Denver","createdDate":"2020-01-01"}',
              '{"type":"Location","organizationId":"demo","id":5,"name":"Main"}',
              '{"type":"PatientV1","organizationId":"demo","id":7,"firstName":"Ann","lastName":"Example","preferredLocation":{"id":5}}',
            ],
          },
        ],
      },
      {
        heading: 'Every line',
        blocks: [
          {
            rows: [
              ['type', 'One of the types below.'],
              ['organizationId', 'Organization that the record belongs to; AccessToken and ApiClient have none.'],
              ['id', 'Id of the record: a positive integer, text for an Organization.'],
              ['deleted', 'true deletes the record; no other field is needed then.'],
            ],
          },
          'lastModified, entryDate, created and firstVisitDate are kept as given; otherwise the time of the import is taken. A link must lead to a record that exists when the import ends. Links to kinds that cannot be imported are not checked.',
          'Lines of type AccessToken and ApiClient are taken only with --allow-credentials, or into data that has no organization yet, and then for organizations of the same file alone. Tokens and secrets have at least 16 characters.',
        ],
      },
      {
        heading: 'Types',
        blocks: kinds.flatMap(([type, { fields, needed }]) => [
          `${type}:`,
          {
            rows: Object.entries(fields).map(([name, { about, kind }]): readonly [string, string] => [
              name,
              `${about} (${kind.name}${needed.includes(name) ? ', required' : ''})${kind.values === undefined ? '' : `: ${kind.values.join(', ')}`}`,
            ]),
          },
        ]),
      },
    ],
  };
}

function requiredOf(fields: Fields): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name]?.required);
}
