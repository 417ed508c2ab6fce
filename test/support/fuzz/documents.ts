import fc from 'fast-check';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { documents } from '../../../src/catalog/resources/documents.ts';
import { big } from '../ids.ts';
import { changed, changeOf, sent, transport } from './bodies.ts';
import { jsonText, oddJson, RawJson } from './odd.ts';
import { FILES, PICTURE } from './pictures.ts';
import type { FuzzRequest } from './requests.ts';

/** A file, whole, cut short or with bytes changed. */
const bytes: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.constantFrom(...Object.values(FILES)),
    fc.nat(9),
    fc.array(fc.tuple(fc.nat(4000), fc.nat(255)), { maxLength: 6 }),
    fc.nat(400),
  )
  .map(([file, how, changes, end]) => {
    if (how === 0) return file.subarray(0, end);
    const copy = Buffer.from(file);
    if (how < 3) for (const [at, value] of changes) if (copy.length > 0) copy[at % copy.length] = value;
    return copy;
  });

/** Base64 in every way of writing it, right ones and wrong ones, as it stands in JSON. */
const WRITINGS: readonly ((bytes: Buffer) => string)[] = [
  ...Array(8).fill((bytes: Buffer) => bytes.toString('base64')),
  (bytes) => bytes.toString('base64url'),
  (bytes) => bytes.toString('base64').replace(/=+$/, ''),
  (bytes) => `${bytes.toString('base64')}=`,
  (bytes) => `${bytes.toString('base64')}====`,
  (bytes) => `=${bytes.toString('base64')}`,
  (bytes) => bytes.toString('base64').replace(/.{76}/g, '$&\\r\\n'),
  (bytes) => bytes.toString('base64').replace(/.{4}/g, '$&\\n\\t '),
  (bytes) => bytes.toString('base64').replace(/.{76}/g, '$&\n'),
  (bytes) => bytes.toString('base64').replaceAll('/', '\\/').replaceAll('+', '\\u002b'),
  (bytes) => bytes.toString('base64').replace(/.{9}/, '$&=='),
  (bytes) => `${bytes.toString('base64')}A`,
  (bytes) => `${bytes.toString('base64').slice(0, -1)}`,
  (bytes) => `data:image/png;base64,${bytes.toString('base64')}`,
  (bytes) => `${bytes.toString('base64')}\\u0000`,
  (bytes) => `\\ufeff${bytes.toString('base64')}`,
  (bytes) => `${bytes.toString('base64')}\\`,
  (bytes) => `${bytes.toString('base64')}\\u12`,
  (bytes) => bytes.toString('latin1').replace(/["\\]/g, ''),
  (bytes) => bytes.toString('hex'),
  () => 'A'.repeat(400_000),
  () => ' '.repeat(3_000_000),
  () => `${'A'.repeat(400_000)}!`,
];

const NUMBERS: readonly unknown[] = [
  0,
  1,
  2,
  PICTURE.width - 1,
  PICTURE.height,
  PICTURE.width,
  PICTURE.width + 1,
  -1,
  0.5,
  '3',
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  1e308,
  5e-324,
  new RawJson('1e400'),
  new RawJson('-0'),
  null,
  true,
  'x',
  [],
  { id: 1 },
  65_536,
  20_000,
];

const crop: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.constant({ fromX: 1, fromY: 1, width: 3, height: 3, ratio: 2 }) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('fromX', 'fromY', 'width', 'height', 'ratio'), fc.constantFrom(...NUMBERS))
      .map(([name, value]) => ({ fromX: 0, fromY: 0, width: 4, height: 4, ratio: 0.5, [name]: value })),
  },
  {
    weight: 2,
    arbitrary: fc.dictionary(
      fc.constantFrom('fromX', 'fromY', 'width', 'height', 'ratio', '__proto__', 'nosuch'),
      fc.constantFrom(...NUMBERS),
      { noNullPrototype: true },
    ),
  },
);

const OWNERS: readonly Record<string, unknown>[] = [
  {},
  {},
  { ownerPatient: { id: big(101) } },
  { ownerPerioExam: { id: big(31) } },
  { ownerPatient: { id: big(999_999) } },
];

const NAMES = [
  'scan',
  'scan.png',
  '.png',
  '..',
  'CON',
  'ü'.repeat(70),
  '😀.jpeg',
  '"quoted"',
  "it's %41;",
  'a\u0085b',
  'x'.repeat(71),
  '\u202egnp.exe',
];

/** POST of documents: files, their base64, crop numbers and everything else around them. */
export const documentRequest: fc.Arbitrary<FuzzRequest> = fc
  .tuple(
    bytes,
    fc.nat(WRITINGS.length - 1),
    crop,
    fc.constantFrom('PNG', 'JPEG', 'GIF', 'PDF', 'jpg', 'DOCX', 'SVG'),
    fc.constantFrom(...OWNERS),
    fc.constantFrom(...NAMES),
    fc.array(changeOf(documents.fields), { maxLength: 1 }),
    fc.oneof(
      { weight: 12, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: oddJson.map((value) => ({ value })) },
    ),
    transport,
  )
  .map(([bytes, writing, crop, mimeType, owner, name, changes, odd, how]) => {
    const content = odd === undefined ? new RawJson(`"${WRITINGS[writing]?.(bytes) ?? ''}"`) : odd.value;
    const body = changed(
      { name, mimeType, ...owner, file: { content, ...crop } },
      changes.slice(0, how.cut % 3 === 0 ? 1 : 0),
    );
    return sent(operationOf(documents, 'create'), '', jsonText(body), how);
  });
