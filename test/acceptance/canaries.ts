import type { Fields, Kind } from '../../src/catalog/fields/kind.ts';
import type { WireRecord } from '../support/calls.ts';
import type { ResourceFixture } from '../support/fixture.ts';
import { line, organizationRecords, referenceRecords, tokenRecords } from '../support/practice.ts';
import { FIXTURES } from '../support/resources.ts';

/** Begins every word that stands for something about a patient; no other text has it. */
const MARK = 'Qzwx';
/** Day of birth of every patient of the practice. */
const BORN = '1913-07-09';
/** A secret of a client, and the bytes of every document. */
export const SECRET = `${MARK} client secret`;
const CONTENT = Buffer.from(`%PDF-1.7\n${MARK} is written all over this document\n`);

/** Wherever one of these stands, something about a patient stands: as text, in a URL, in base64, as digits of a phone. */
const CANARIES: readonly RegExp[] = [
  new RegExp(MARK, 'i'),
  /1913-07-09|1913-77-99|7\/9\/1913/,
  /555.?98\d\d/,
  /7319\.53|731953/,
  ...[0, 1, 2].map(
    (at) =>
      new RegExp(
        CONTENT.subarray(9 + at, 33 + at)
          .toString('base64')
          .slice(0, 24),
      ),
  ),
];

/** What of a text tells of a patient: each canary with what stands around it. */
export function canariesIn(text: string): string[] {
  return CANARIES.flatMap((canary) => {
    const at = text.search(canary);
    return at < 0 ? [] : [text.slice(Math.max(0, at - 60), at + 40)];
  });
}

let count = 0;
export const word = () => `${MARK}${count++}`;
const phone = () => `(801) 555-98${String(count++ % 100).padStart(2, '0')}`;

/** Texts whose form is fixed: a colour, an address of a file; they hold nothing about anybody. */
const FORMAL = ['color', 'type', 'guidName', 'thumbNailId', 'storage'];

/** A canary of the form that the field takes, or the value that was there. */
function canaryFor(name: string, kind: Kind, value: unknown): unknown {
  if (FORMAL.includes(name)) return value;
  if (kind.item !== undefined && Array.isArray(value))
    return value.map((item) => canaryFor(name, kind.item as Kind, item));
  if (kind.fields !== undefined && typeof value === 'object' && value !== null)
    return withCanaries(value as WireRecord, kind.fields);
  if (name === 'number') return phone();
  if (name === 'dateOfBirth') return BORN;
  if (name === 'amount') return value;
  return kind.name === 'text' ? word() : value;
}

/** A record with a canary in every text that its fields have, whether it had one or not. */
function withCanaries(record: WireRecord, fields: Fields): WireRecord {
  const texts = Object.entries(fields).filter(([name, { kind }]) => name in record || kind.name === 'text');
  const found = texts.map(([name, { kind }]) => [name, canaryFor(name, kind, record[name])]);
  return { ...record, ...Object.fromEntries(found.filter(([, value]) => value !== undefined)) };
}

const NAMES = ['name', 'firstName', 'lastName', 'reason'];

function named(record: WireRecord): WireRecord {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, NAMES.includes(name) && value !== null ? word() : value]),
  );
}

function linesOf({ resource, records }: ResourceFixture): WireRecord[] {
  return records.map((record) => {
    const own = withCanaries(record, resource.fields);
    const { file } = record;
    if (file === undefined) return line(resource.type, own);
    return line(resource.type, { ...own, name: `${word()}.pdf`, mimeType: 'PDF', file: { content: bytes() } });
  });
}

export const bytes = () => CONTENT.toString('base64');

/** Import lines of a practice whose every text is a canary, with tokens and a client. */
export function canaryPractice(): WireRecord[] {
  const others = referenceRecords().filter(({ organizationId }) => organizationId === organizationRecords()[0]?.id);
  return [
    ...organizationRecords().map(named),
    ...tokenRecords(),
    {
      type: 'ApiClient',
      clientId: 'nightly',
      clientSecret: SECRET,
      organizations: [organizationRecords()[0]?.id],
      scopes: ['model:read', 'model:write', 'practice:read'],
    },
    ...others.map(named),
    ...FIXTURES.flatMap(linesOf),
  ];
}

/** Bodies that are wrong in every field, each time in another way, and hold canaries where values belong. */
export function wrongBodies(fields: Fields): WireRecord[] {
  const names = Object.entries(fields).map(([name]) => name);
  const all = (value: () => unknown) => Object.fromEntries(names.map((name) => [name, value()]));
  return [
    all(() => word().repeat(100)),
    all(() => ({ id: word() })),
    all(() => [word()]),
    all(() => '1913-77-99'),
    all(() => 7319.53),
    all(() => null),
  ];
}
