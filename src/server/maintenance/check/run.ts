import { STORED_RESOURCES } from '../../../catalog/catalog.ts';
import { layoutOf, tableOf } from '../../store/layout.ts';
import { damageOf } from '../damage.ts';
import { ownSchema } from '../tables.ts';
import { checkAccess } from './access.ts';
import { checkAudit } from './audit.ts';
import type { CheckContext } from './context.ts';
import { checkDatabase } from './database.ts';
import { checkDeliveries } from './deliveries.ts';
import { checkFiles } from './files.ts';
import { Book, type CheckName } from './findings.ts';
import { checkLedger } from './ledger.ts';
import { checkOrganizations } from './organizations.ts';
import { checkRecords } from './records.ts';
import { checkReferences } from './references.ts';
import { checkSchema } from './schema.ts';
import { checkSequences } from './sequences.ts';
import { checkSeries } from './series.ts';
import { checkStream } from './stream.ts';
import { checkUniqueness } from './uniqueness.ts';

type Pass = (context: CheckContext, book: Book) => Promise<void>;

/** What is done in one go, and the check to which a table counts that cannot be read. */
const PASSES: readonly (readonly [CheckName, Pass])[] = [
  ...STORED_RESOURCES.map(
    (resource) => ['records', (context: CheckContext, book: Book) => checkRecords(context, book, resource)] as const,
  ),
  ['records', checkReferences],
  ['ledger', checkLedger],
  ['sequences', checkSequences],
  ['uniqueness', checkUniqueness],
  ['series', checkSeries],
  ['stream', checkStream],
  ['audit', checkAudit],
  ['deliveries', checkDeliveries],
  ['access', checkAccess],
  ['files', checkFiles],
];

/** Runs every check. Memory does not grow with the data. */
export async function runChecks(context: CheckContext): Promise<Book> {
  const book = new Book();
  await guarded('database', book, () => checkDatabase(context, book));
  const own = await ownSchema();
  const whole = await guarded('schema', book, () => checkSchema(context, book, own));
  if (whole !== true) {
    for (const findings of book.all()) {
      if (findings.check !== 'database' && findings.check !== 'schema') findings.skipped = 'the schema is another';
    }
    return book;
  }
  await guarded('links', book, () => checkOrganizations(context, book, OWNED));
  for (const [name, pass] of PASSES) await guarded(name, book, () => pass(context, book));
  return book;
}

/** Tables without rows of an organization that does not exist. */
const OWNED = [
  ...STORED_RESOURCES.flatMap((resource) => [tableOf(resource), ...layoutOf(resource).sides.map((side) => side.table)]),
  'reference_records',
  'distributions',
  'ledger',
];

/** A part of a damaged database that cannot be read is a finding, and the rest is checked all the same. */
async function guarded<T>(name: CheckName, book: Book, pass: () => Promise<T>): Promise<T | undefined> {
  try {
    return await pass();
  } catch (error) {
    const message = damageOf(error);
    if (message === undefined) throw error;
    book.of(name).report({ table: null, organization: null, id: null, message: `cannot be read: ${message}` });
    return undefined;
  }
}
