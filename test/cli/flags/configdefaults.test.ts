import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withConfiguredDefaults } from '../../../src/cli/flags/configdefaults.ts';
import type { FlagValues } from '../../../src/cli/flags/values.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-configdefaults-'));
});
afterAll(() => rm(folder, { recursive: true }));

const KNOWN = { format: { helpValue: 'table|json|csv|ndjson' }, 'page-size': {}, out: {} };

/** The flags of a command with these settings. */
async function flagsOf(defaults: object, flags: FlagValues, { known = KNOWN as object, isTerminal = false } = {}) {
  await writeFile(join(folder, 'config.json'), JSON.stringify({ defaults }));
  return withConfiguredDefaults(flags, { ...known }, { MOLAR_CONFIG_DIR: folder }, isTerminal);
}

describe('a format that was set for all commands', () => {
  it('is that of a command that names none', async () => {
    expect(await flagsOf({ format: 'ndjson', pageSize: '3' }, {})).toEqual({ format: 'ndjson', 'page-size': '3' });
  });

  it.each([{ out: 'x.xlsx' }, { format: 'csv' }, { json: true }, { csv: true }, { excel: true }, { 'split-by': 'id' }])(
    'is not that of a command with %j, which says itself what it writes',
    async (flags: FlagValues) => {
      expect(await flagsOf({ format: 'ndjson' }, flags)).toEqual(flags);
    },
  );

  it('is not that of a command that has no such format, nor a table on a terminal, which has one anyway', async () => {
    expect(await flagsOf({ format: 'ndjson' }, {}, { known: { format: { options: ['table', 'json'] } } })).toEqual({});
    expect(await flagsOf({ format: 'ndjson' }, {}, { known: { out: {} } })).toEqual({});
    expect(await flagsOf({ format: 'table' }, {}, { isTerminal: true })).toEqual({});
    expect(await flagsOf({ format: 'table' }, {})).toEqual({ format: 'table' });
  });
});
