import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import MirrorTables from '../../../src/commands/mirror/tables.ts';
import { openNetwork } from '../../../src/core/transport/network.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { type TestService, testService } from '../../support/service.ts';
import { queried } from './oracle.ts';
import { listening } from './practice.ts';

/** The reader of YAML that comes with other tools of the tests. */
const yaml = createRequire(import.meta.url)('js-yaml') as { readonly load: (text: string) => unknown };

let service: TestService;
let folder: string;
let file: string;

beforeAll(async () => {
  service = await testService();
  folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
  file = join(folder, 'practice.db');
  const env = await listening(service);
  const ran = await runCommand('mirror:sync', MirrorSync, ['--to', file, '--history'], { env, openNetwork });
  expect(ran.exitCode, ran.stderr).toBe(0);
});

afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const tables = (...words: string[]) => runCommand('mirror:tables', MirrorTables, ['--to', file, ...words]);

/** Columns by table or view, by SQLite's own word; those of names that begin with an underscore are the mirror's own. */
function inTheFile(): Map<string, string[]> {
  const names = queried(
    file,
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'",
  );
  return new Map(
    names.map(({ name }) => [
      String(name),
      queried(file, `SELECT name FROM pragma_table_info('${name}')`).map((column) => String(column.name)),
    ]),
  );
}

/** What dbt reads of a sources file, by its own schema. */
interface Sources {
  readonly version: number;
  readonly sources: readonly { readonly name: string; readonly schema: string; readonly tables: readonly Table[] }[];
}
interface Table {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly {
    readonly name: string;
    readonly description?: string;
    readonly data_type?: string;
    readonly data_tests?: readonly Test[];
  }[];
}
type Test =
  | 'unique'
  | 'not_null'
  | {
      readonly relationships: {
        readonly to: string;
        readonly field: string;
        readonly config?: { readonly severity: string };
      };
    };

describe('tables of a mirror, for', () => {
  it('dbt: every column, and data tests that hold', async () => {
    const out = join(folder, 'molar.yml');
    expect(await tables('--format', 'dbt', '--out', out)).toMatchObject({ exitCode: 0, stdout: '' });
    const { version, sources } = yaml.load(await readFile(out, 'utf8')) as Sources;
    const [source] = sources;
    expect([version, sources.length, source?.name, source?.schema]).toEqual([2, 1, 'molar', 'main']);
    const there = inTheFile();
    const all = [...there].filter(([name]) => !name.startsWith('_'));
    const told = (source?.tables ?? []).map(
      ({ name, columns }) => [name, columns.map((column) => column.name).toSorted()] as const,
    );
    expect(new Map(told)).toEqual(new Map(all.map(([name, columns]) => [name, columns.toSorted()])));
    let failing = 0;
    const kinds: Record<string, number> = {};
    for (const { name, columns, description } of source?.tables ?? []) {
      expect(description, name).not.toBe('');
      for (const { name: column, data_tests = [], data_type } of columns) {
        if (!name.startsWith('v_')) expect(data_type, `${name}.${column}`).toMatch(/^[A-Z]+$/);
        for (const test of data_tests) {
          const kind = typeof test === 'string' ? test : 'relationships';
          kinds[kind] = (kinds[kind] ?? 0) + 1;
          const query = {
            unique: `SELECT "${column}" FROM "${name}" WHERE "${column}" IS NOT NULL GROUP BY 1 HAVING count(*) > 1`,
            not_null: `SELECT 1 FROM "${name}" WHERE "${column}" IS NULL`,
            relationships: '',
          };
          if (typeof test !== 'string') {
            const { to, field, config } = test.relationships;
            const [, parent = ''] = /^source\('molar', '(\w+)'\)$/.exec(to) ?? [];
            expect(there.get(parent), to).toContain(field);
            if (config?.severity === 'warn') continue;
            query.relationships = `SELECT 1 FROM "${name}" AS c LEFT JOIN "${parent}" AS p ON p."${field}" = c."${column}" WHERE c."${column}" IS NOT NULL AND p."${field}" IS NULL`;
          }
          failing += queried(file, query[kind]).length;
        }
      }
    }
    expect(failing).toBe(0);
    // 11 resources, as they are and deleted; 9 lists with their records; links, as far as their targets are mirrored.
    expect(kinds).toEqual({ unique: 22, not_null: 22 + 11 + 18, relationships: 9 + 20 });
    const money = source?.tables
      .find(({ name }) => name === 'transactions')
      ?.columns.find(({ name }) => name === 'amount_cents');
    expect(money?.description).toBe('Dollars: charges positive, credits negative. In cents');
  });

  it('Datasette: what is in the file, and nothing else', async () => {
    const metadata = JSON.parse((await tables('--format', 'datasette')).stdout);
    expect([metadata.title, Object.keys(metadata.databases)]).toEqual([expect.any(String), ['practice']]);
    const there = inTheFile();
    const told = metadata.databases.practice.tables as Record<string, Record<string, unknown>>;
    expect(Object.keys(told).toSorted()).toEqual([...there.keys()].toSorted());
    for (const [
      name,
      { hidden, label_column, columns = {}, units = {}, description, title, ...others },
    ] of Object.entries(told)) {
      expect(others, name).toEqual({});
      expect(hidden === true, name).toBe(name.startsWith('_') && !['_mirror', '_columns'].includes(name));
      if (hidden) continue;
      expect(description, name).toEqual(expect.stringMatching(/./));
      if (!name.startsWith('_')) expect(title, name).toEqual(expect.stringMatching(/^[A-Z]/));
      const named = [
        ...Object.keys(columns as object),
        ...Object.keys(units as object),
        ...(label_column === undefined ? [] : [label_column]),
      ];
      expect(there.get(name), name).toEqual(expect.arrayContaining(named));
      expect(Object.keys(units as object), name).toEqual(
        there.get(name)?.filter((column) => column.endsWith('_cents')),
      );
    }
    expect([told.patients?.label_column, told.documents?.label_column]).toEqual(['last_name', 'name']);
  });

  it('neither of them has what other formats have', async () => {
    for (const words of [['--sort', 'type'], ['--json'], ['--fields', 'type'], ['--no-header']])
      expect(await tables('--format', 'dbt', ...words)).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
