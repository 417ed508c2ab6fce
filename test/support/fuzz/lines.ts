import fc from 'fast-check';
import type { Fields } from '../../../src/catalog/fields/kind.ts';
import { GLOBAL_KINDS, RECORD_KINDS } from '../../../src/server/import/kinds.ts';
import { ORGANIZATION, TOKENS } from '../ids.ts';
import { allRecords } from '../practice.ts';
import { changed, changeOf } from './bodies.ts';
import { jsonText, oddJson, oddText } from './odd.ts';

const KEPT_TOKENS: readonly unknown[] = [TOKENS.full, TOKENS.read];

/** Lines of a practice that are right; the tokens that the tests themselves use are not among them. */
const RIGHT = allRecords().filter(({ token }) => !KEPT_TOKENS.includes(token));

const EXTRA = [
  {
    type: 'ApiClient',
    clientId: 'app',
    clientSecret: 'secret of sixteen',
    organizations: [ORGANIZATION],
    scopes: ['model:read'],
  },
  {
    type: 'ScheduleTemplateV1',
    organizationId: ORGANIZATION,
    id: 5,
    dayOfWeek: 'MONDAY',
    start: '08:00',
    end: '12:00',
    bookingTypes: ['RECARE'],
  },
];

function fieldsOf(type: unknown): Fields {
  return RECORD_KINDS.get(String(type))?.fields ?? GLOBAL_KINDS[String(type)] ?? {};
}

const heads = fc.oneof(
  fc.tuple(fc.constantFrom('type', 'organizationId', 'id', 'deleted', '__proto__'), oddJson),
  fc.constantFrom<readonly [string, unknown]>(
    ['deleted', true],
    ['deleted', false],
    ['organizationId', 'another'],
    ['organizationId', 'a b'],
  ),
);

/** A right line with up to two things wrong. */
const line: fc.Arbitrary<string> = fc.oneof(
  ...[...RIGHT, ...EXTRA].map((record) =>
    fc
      .tuple(
        fc.array(fc.oneof({ weight: 4, arbitrary: changeOf(fieldsOf(record.type)) }, { weight: 1, arbitrary: heads }), {
          maxLength: 2,
        }),
        fc.nat(20),
        fc.nat(200),
      )
      .map(([changes, how, cut]) => {
        const text = jsonText(changed(record, changes));
        return how === 0 ? text.slice(0, cut) : text;
      }),
  ),
  oddJson.map(jsonText),
  oddText,
  fc.constantFrom('', ' ', '[]', '{}', '\ufeff{}', '{"type":"PatientV1"}', '\0'),
);

/** Bytes of a file to import: few lines, so that some files have nothing wrong. */
export const importBytes: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.array(line, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('\n', '\n', '\r\n', '\n\n', '\r'),
    fc.nat(20),
    fc.nat(500),
  )
  .map(([lines, end, how, at]) => {
    const bytes = Buffer.from((how === 1 ? '\ufeff' : '') + lines.join(end) + (how === 2 ? '' : end));
    if (how === 3) bytes[at % bytes.length] = 0xff;
    return how === 4 ? Buffer.from(bytes.toString('utf8'), 'utf16le') : bytes;
  });
