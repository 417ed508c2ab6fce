import sql, { join } from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import { appendMessage, readMessages } from '../../../../src/server/stream/outbox.ts';
import type { CallOptions } from '../../../support/calls.ts';
import { LOCATIONS, OPERATORIES, ORGANIZATION, PATIENTS, PROVIDERS } from '../../../support/ids.ts';
import type { TestDatabase } from '../../../support/postgres.ts';
import { bareRecords, line } from '../../../support/practice.ts';
import { preparedTest } from '../../../support/preparedschemas.ts';
import { testService } from '../../../support/service.ts';
import { messageBy } from '../../stream/writing.ts';

type Question = readonly [path: string, options?: CallOptions, method?: string];

/** The answers of a store that is filled with the records, as status and bytes. */
async function answersOf(store: 'sqlite' | 'postgres', records: object[], questions: readonly Question[]) {
  const service = await testService([...bareRecords(), ...records] as never, { store });
  const answers: string[] = [];
  try {
    for (const [path, options, method = 'GET'] of questions) {
      const { status, text } = await service.call(method, path, options);
      answers.push(`${status} ${text}`);
    }
  } finally {
    await service.close();
  }
  return answers;
}

/** Both stores are asked; their answers must be the same bytes. Returns them, parsed. */
async function alike(records: object[], questions: readonly Question[]) {
  const files = await answersOf('sqlite', records, questions);
  const database = await answersOf('postgres', records, questions);
  expect(database).toEqual(files);
  return database.map((answer) => ({
    status: Number(answer.slice(0, 3)),
    text: answer,
    ...JSON.parse(answer.slice(4)),
  }));
}

/** Patients from id 1 on with these last names. */
function named(...names: readonly string[]): object[] {
  return names.map((lastName, index) => line('PatientV1', { id: index + 1, firstName: 'Pat', lastName }));
}

const patients = (filter: string): Question => ['/patients', { query: { filter } }];
const ids = (answers: readonly { data: readonly { id: number }[] }[]) =>
  answers.map(({ data }) => data.map(({ id }) => id));

async function opened(database: TestDatabase, work: (store: Store) => Promise<void>, timeoutMs?: number) {
  const store = await openPostgresStore(database.url, { ...(timeoutMs !== undefined && { timeoutMs }) });
  await work(store).finally(() => store.close());
}

describe('what PostgreSQL does another way than SQLite', () => {
  preparedTest('collation: text is compared and sorted by its bytes', async () => {
    const names = ['Zoe', 'anna', 'Ánna', 'Öz', 'o', '\u{1F9B7}a', '\u{FFFD}', 'a-b', 'a b', 'ab'];
    const answers = await alike(named(...names), [
      patients('lastName~=a'),
      patients('lastName~=á'),
      patients('lastName~=\u{1F9B7}'),
      patients('lastName~=\u{FFFD}'),
      patients('lastName~=a-'),
    ]);
    expect(ids(answers)).toEqual([[2, 8, 9, 10], [3], [6], [7], [8]]);
  });

  preparedTest('collation: columns of text have the collation "C", whatever that of the database is', (database) =>
    opened(database, async (store) => {
      const others = await store.read.all(sql`SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`);
      expect(others).toEqual([]);
    }),
  );

  preparedTest('case folding: letters are folded by Unicode, not by the locale of the database', async () => {
    const answers = await alike(named('ÅSE', 'åse', 'İlker', 'straße', 'STRASSE', 'ΣΟΦΟΣ', 'e\u0301va', 'ÉVA'), [
      patients('lastName~=ås'),
      patients('lastName<>=ILK'),
      patients('lastName~=STRASS'),
      patients('lastName~=σοφο'),
      patients('lastName==\u00e9va'),
      patients('lastName<>=\u00e9v'),
    ]);
    expect(ids(answers)).toEqual([[1, 2], [], [5], [6], [7], [7, 8]]);
  });

  preparedTest('null order: a record without a value comes where its id puts it', async () => {
    const records = [
      ...named('A', 'B', 'C'),
      line('PatientV1', { id: 4, firstName: 'D', lastName: 'D', chartNumber: 'x' }),
    ];
    const answers = await alike(records, [
      patients('chartNumber.absent,id->[1,2,3,4]'),
      patients('chartNumber.present'),
      patients('gender!=M,id->[1,2,3,4]'),
      patients('firstVisitDate<=2030-01-01'),
    ]);
    expect(ids(answers)).toEqual([[1, 2, 3], [4], [1, 2, 3, 4], []]);
  });

  preparedTest('number width: ids up to 2^53 − 1, and sums of cents beyond 32 bits', async () => {
    const last = Number.MAX_SAFE_INTEGER;
    const charge = (id: number, amount: number) =>
      line('Transaction', {
        id,
        ledgerType: 'PatientChargeAdjustment',
        amount,
        transactionDate: '2026-02-01',
        patient: { id: last - 1 },
        location: { id: LOCATIONS.east },
      });
    const answers = await alike(
      [
        line('PatientV1', { id: last - 1, firstName: 'Big', lastName: 'Number' }),
        charge(last - 2, 99_999_999.99),
        charge(last - 1, 0.01),
        charge(2 ** 31, 21_474_836.48),
      ],
      [
        [`/patients/${last - 1}`],
        ['/transactions', { query: { filter: `patient.id==${last - 1}` } }],
        ['/agingbalances/report', { query: { filter: `location.id==${LOCATIONS.east},page==1` } }],
      ],
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers[0]?.data.id).toBe(last - 1);
    expect(ids(answers.slice(1, 2))).toEqual([[2 ** 31, last - 2, last - 1]]);
    expect(answers[2]?.text).toContain('121474836.48');
  });

  preparedTest('LIKE: %, _ and \\ stand for themselves, and astral characters are whole', async () => {
    const answers = await alike(named('100%', '100', 'a_b', 'axb', 'a\\b', '\u{1F9B7}\u{1F9B7}', 'x\u{1F9B7}'), [
      patients('lastName<>=%'),
      patients('lastName~=a_'),
      patients('lastName<>=_'),
      patients('lastName<>=\\'),
      patients('lastName<>=\u{1F9B7}'),
      patients('lastName~=\u{1F9B7}'),
    ]);
    expect(ids(answers)).toEqual([[1], [3], [3], [5], [6, 7], [6]]);
  });

  preparedTest('time zones: that of the session changes nothing', async (database) => {
    const url = database.url.replace(
      'search_path',
      'timezone=Pacific/Kiritimati%20-c%20datestyle=German%20-c%20search_path',
    );
    const store = await openPostgresStore(url);
    const text = '2026-03-02T12:00:00.000Z';
    await store.write((tx) => tx.run(sql`INSERT INTO settings (name, value) VALUES ('then', ${text})`));
    expect(
      await store.read.get(
        sql`SELECT value, current_setting('TimeZone') AS zone FROM settings WHERE value LIKE '2026%'`,
      ),
    ).toEqual({
      value: text,
      zone: 'Pacific/Kiritimati',
    });
    await store.close();
  });

  preparedTest(
    'sequence visibility: a reader never sees a message above one that is still to come',
    async (database) => {
      const [one, other] = [await openPostgresStore(database.url), await openPostgresStore(database.url)];
      const write = (store: Store, n: number) =>
        store.write(
          async (tx) => {
            const organization = { org: 1 + (n % 5), id: ORGANIZATION };
            await appendMessage(tx, messageBy(organization, { payload: JSON.stringify({ n }) }));
            if (n % 7 === 0) throw new Error('refused');
          },
          1 + (n % 5),
        );
      const seen = [1, 2, 3, 4, 5].map((org) => ({ org, numbers: [] as number[] }));
      let writing = true;
      const reading = (async () => {
        for (let last = false; !last; ) {
          last = !writing;
          for (const { org, numbers } of seen) {
            const page = await readMessages(one.read, { org }, numbers.at(-1) ?? 0, 500);
            numbers.push(...page.map(({ number }) => number));
          }
        }
      })();
      const numbers = Array.from({ length: 300 }, (_, n) => n);
      await Promise.allSettled(numbers.map((n) => write(n % 2 ? one : other, n)));
      writing = false;
      await reading;
      const kept = numbers.filter((n) => n % 7 !== 0).length;
      // Each organization counts its own, from 1 on.
      for (const { numbers: own } of seen) {
        expect(own.length).toBeGreaterThan(30);
        expect(own).toEqual(own.map((_, index) => index + 1));
      }
      expect(seen.flatMap(({ numbers: own }) => own)).toHaveLength(kept);
      await Promise.all([one.close(), other.close()]);
    },
  );

  preparedTest('NUL: refused wherever a caller may send one, and harmless where it gets through', async (database) => {
    const answers = await alike(named('Nul'), [
      patients('lastName==Nul\0'),
      patients('lastName<>=\0'),
      ['/patients', { body: { firstName: 'N\0', lastName: 'L' } }, 'POST'],
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    await opened(database, async (store) => {
      expect(await store.read.all(sql`SELECT name FROM settings WHERE name = ${'a\0'}`)).toEqual([]);
    });
  });

  preparedTest('booleans: true and false are told apart from each other and from nothing', async () => {
    const visit = (id: number, asap: boolean) =>
      line('AppointmentV1', {
        id,
        start: `2026-03-0${id}T16:00:00Z`,
        duration: 60,
        status: 'UNCONFIRMED',
        patient: { id: 1 },
        provider: { id: PROVIDERS.ann },
        operatory: { id: OPERATORIES.one },
        location: { id: LOCATIONS.east },
        ...(id < 3 && { asap, needsFollowUp: asap }),
      });
    const questions = ['asap==true', 'asap==false', 'needsFollowUp!=true'].map(
      (filter): Question => ['/appointments', { query: { filter } }],
    );
    const answers = await alike([...named('A'), visit(1, true), visit(2, false), visit(3, false)], questions);
    expect(ids(answers)).toEqual([[1], [2, 3], [2, 3]]);
  });

  preparedTest('parameter limits: long lists of a filter fit into a statement', async () => {
    const many = Array.from({ length: 9_000 }, (_, index) => index + 1);
    const answers = await alike(named('A', 'B'), [patients(`id->[${many.join(',')}]`)]);
    expect(answers[0]).toMatchObject({ status: 200 });
  });

  preparedTest('parameter limits: as many values as a statement of SQLite may have', (database) =>
    opened(database, async (store) => {
      const values = Array.from({ length: 32_766 }, (_, index) => index);
      const row = await store.read.get(
        sql`SELECT COUNT(*) AS found FROM settings WHERE name NOT LIKE 'stream_%' AND LENGTH(name) IN (${join(values)})`,
      );
      expect(row).toEqual({ found: 0 });
    }),
  );

  preparedTest('index width: text of the greatest length is stored, and found', async () => {
    const long = Array.from({ length: 255 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000))).join('');
    const twin = `${long.slice(0, -1)}x`;
    const person = (id: number, text: string) =>
      line('PatientV1', {
        id,
        firstName: 'P',
        lastName: 'Q',
        chartNumber: text,
        emailAddress: `${text.slice(-200)}@example.com`,
        preferredName: text,
      });
    const answers = await alike(
      [person(1, long), person(2, twin)],
      [patients(`preferredName~=${long.slice(0, 200)}`), ['/patients', { query: { filter: `chartNumber==${long}` } }]],
    );
    expect(ids(answers)).toEqual([[1, 2], [1]]);
  });

  preparedTest('PATIENTS of the fixtures: the whole list is the same bytes', async () => {
    const answers = await alike([], [['/patients'], ['/transactions'], ['/appointments'], ['/events'], ['/documents']]);
    expect(ids(answers.slice(0, 1))).toEqual([Object.values(PATIENTS)]);
  });
});
