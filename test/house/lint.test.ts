import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './tree.ts';

/** Faults put into a tree of its own, each beside what `npm run lint` says of it. */
const FAULTS: readonly (readonly [file: string, text: string, complaint: string])[] = [
  ['src/catalog/upward.ts', "import '../core/fine.ts';", 'rooms-of-catalog: src/catalog/upward.ts → src/core/fine.ts'],
  ['src/core/server.ts', "await import('../server/fine.ts');", 'rooms-of-core: src/core/server.ts'],
  ['src/cli/server.ts', "import '../server/fine.ts';", 'rooms-of-cli: src/cli/server.ts'],
  ['src/server/core.ts', "import '../core/fine.ts';", 'rooms-of-server: src/server/core.ts'],
  ['src/filesystem/core.ts', "import '../core/fine.ts';", 'rooms-of-filesystem: src/filesystem/core.ts'],
  ['src/sqlite/catalog.ts', "import '../core/fine.ts';", 'rooms-of-sqlite: src/sqlite/catalog.ts'],
  ['src/server/demo.ts', "import '../demo/fine.ts';", 'rooms-of-server: src/server/demo.ts'],
  ['src/commands/list.ts', "await import('../server/fine.ts');", 'rooms-of-commands: src/commands/list.ts'],
  ['src/cli/serving/serve.ts', "import '../../server/fine.ts';", 'server-on-demand: src/cli/serving/serve.ts'],
  ['src/core/one.ts', "import type { Two } from './two.ts';\nexport type One = Two;", 'no-circular: src/core/one.ts'],
  ['src/core/two.ts', "import type { One } from './one.ts';\nexport type Two = One;", 'no-circular: src/core/one.ts'],
  ['src/core/missing.ts', "import './nowhere.ts';", 'resolvable: src/core/missing.ts'],
  ['src/core/oclif.ts', "import '@oclif/core/flags';", 'oclif-in-cli: src/core/oclif.ts'],
  ['src/cli/oclif.ts', "import '@oclif/core';", 'parts-of-oclif: src/cli/oclif.ts'],
  ['src/core/tool.ts', "import 'vitest';", 'tools-stay-outside: src/core/tool.ts'],
  ['src/server/print.ts', "process.stdout.write('x');", 'src/server/print.ts:1:1 plugin'],
  ['src/server/quoted.ts', "process['std' + 'out'];", 'src/server/quoted.ts:1:1 plugin'],
  ['src/server/taken.ts', 'export const { stderr } = process;', 'src/server/taken.ts:1:8 plugin'],
  ['src/core/renamed.ts', "import { open, rename as move } from 'node:fs/promises';", 'src/core/renamed.ts:1:1 plugin'],
  ['src/server/removed.ts', "import { rmSync } from 'fs';", 'src/server/removed.ts:1:1 plugin'],
  ['src/demo/all.ts', "import * as files from 'node:fs';", 'src/demo/all.ts:1:1 plugin'],
  ['src/cli/whole.ts', "import files from 'node:fs/promises';", 'src/cli/whole.ts:1:1 plugin'],
  ['src/core/synced.ts', 'await file.sync();', 'src/core/synced.ts:1:7 plugin'],
  ['src/core/flushed.ts', 'await this.file?.datasync();', 'src/core/flushed.ts:1:7 plugin'],
  ['src/server/opened.ts', 'await file.chmod(0o644);', 'src/server/opened.ts:1:7 plugin'],
  ['src/core/late.ts', 'AbortSignal.any([stop, AbortSignal.timeout(5)]);', 'src/core/late.ts:1:1 plugin'],
  [
    'src/cli/imported.ts',
    "import { stdout } from 'node:process';\nstdout;",
    'src/cli/imported.ts:1:10 lint/style/noRestrictedImports',
  ],
  [
    'src/core/process.ts',
    'export const home = process.env.HOME;',
    'src/core/process.ts:1:21 lint/style/noRestrictedGlobals',
  ],
  ['src/server/console.ts', 'console.log(1);', 'src/server/console.ts:1:1 lint/suspicious/noConsole'],
  ['src/core/any.ts', 'export const a: any = 1;', 'src/core/any.ts:1:17 lint/suspicious/noExplicitAny'],
  ['test/only.test.ts', "it.only('x', () => {});", 'test/only.test.ts:1:4 lint/suspicious/noFocusedTests'],
  ['test/skip.test.ts', "describe.skip('x', () => {});", 'test/skip.test.ts:1:10 lint/suspicious/noSkippedTests'],
  ['test/late.test.ts', "it.skipIf(late)('x', () => {});", 'test/late.test.ts:1:1 plugin'],
];

const FINE: readonly (readonly [file: string, text: string])[] = [
  ['src/catalog/fine.ts', "import './record.ts';"],
  ['src/catalog/record.ts', 'export const text = "value: any";'],
  ['src/core/fine.ts', "import '../catalog/fine.ts';"],
  ['src/cli/fine.ts', "import '../core/fine.ts';"],
  ['src/core/reads.ts', "import { open } from 'node:fs/promises';\nawait open('x');\nawait area.sync();"],
  ['src/filesystem/fine.ts', "import { rename } from 'node:fs/promises';\nawait rename('x', 'y');\nawait file.sync();"],
  ['src/cli/terminal/streams.ts', "process.stdout.write('x');"],
  ['src/cli/serving/demo.ts', "await import('../../demo/fine.ts');"],
  ['src/server/fine.ts', "import '../catalog/fine.ts';\nprocess.once('SIGTERM', () => {});"],
  ['src/demo/fine.ts', "import '../server/fine.ts';"],
  ['bin/fine.mjs', "process.stderr.write('x');"],
  ['test/fine.test.ts', "it.each([1])('%s', () => {});"],
];

describe('npm run lint', () => {
  let folder: string;
  let said: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'molar-lint-'));
    for (const [file, text] of [...FAULTS, ...FINE]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), `${text}\n`);
    }
    for (const file of ['biome.json', '.dependency-cruiser.cjs', 'package.json', 'test/house/rules']) {
      cpSync(join(ROOT, file), join(folder, file), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const run = (bin: string, ...args: string[]) =>
      promisify(execFile)(process.execPath, [join(ROOT, 'node_modules', bin), ...args], { cwd: folder }).then(
        ({ stdout }) => stdout,
        ({ stdout, stderr }) => stdout + stderr,
      );
    const [cruised, checked] = await Promise.all([
      run('dependency-cruiser/bin/dependency-cruise.mjs', '--config', '.dependency-cruiser.cjs', 'src'),
      run('@biomejs/biome/bin/biome', 'lint', '--vcs-enabled=false', '--max-diagnostics=none', '--colors=off', '.'),
    ]);
    said = cruised + checked;
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(FAULTS)('finds the fault in %s: %s', (_file, _text, complaint) => {
    expect(said).toContain(complaint);
  });

  it.each(FINE)('leaves %s alone', (file) => {
    expect(said).not.toContain(`${file} →`);
    expect(said).not.toContain(`${file}:`);
  });
});
