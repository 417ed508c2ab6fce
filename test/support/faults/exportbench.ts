import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestService, testService } from '../service.ts';
import { type Exported, exportLine } from './exportscenario.ts';
import { type FaultProxy, openFaultProxy } from './faultproxy.ts';
import { manyRecords } from './manyrecords.ts';
import { runFaulty } from './runfaulty.ts';

/** What stands in a file before it is exported to. */
export const BEFORE = 'what was there before\n';

/** A service with many records behind a fault proxy, and a folder to export to. */
export class ExportBench {
  readonly proxy: FaultProxy;
  private readonly service: TestService;
  private readonly folder: string;
  private readonly whole = new Map<string, Promise<string>>();

  private constructor(service: TestService, proxy: FaultProxy, folder: string) {
    this.service = service;
    this.proxy = proxy;
    this.folder = folder;
  }

  static async open(): Promise<ExportBench> {
    const service = await testService(manyRecords());
    const proxy = await openFaultProxy(await service.app.listen({ port: 0, host: '127.0.0.1' }));
    return new ExportBench(service, proxy, await mkdtemp(join(tmpdir(), 'molar-faults-')));
  }

  async close(): Promise<void> {
    await this.proxy.close();
    await this.service.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The bytes of an export in which nothing goes wrong: one page, to standard output. Asked for once. */
  wholeExport(exported: Exported): Promise<string> {
    const line = [...exportLine(exported), '--page-size', '500'];
    const key = line.join(' ');
    const known =
      this.whole.get(key) ??
      runFaulty(0, line, { proxy: this.proxy, share: 0 }).then(({ stdout }) => stdout.toString());
    this.whole.set(key, known);
    return known;
  }

  /** A file in a folder of its own that holds `BEFORE`. */
  async target(name: string): Promise<Target> {
    const folder = join(this.folder, name);
    const path = join(folder, 'export.out');
    await mkdir(folder);
    await writeFile(path, BEFORE);
    return new Target(path, folder);
  }
}

/** The file that an export is to replace. */
export class Target {
  readonly path: string;
  readonly folder: string;

  constructor(path: string, folder: string) {
    this.path = path;
    this.folder = folder;
  }

  text(): Promise<string> {
    return readFile(this.path, 'utf8');
  }

  /** What stands beside it, by the ending of its name: `.part`, `.part.json`. */
  async beside(): Promise<string[]> {
    const own = basename(this.path);
    const names = await readdir(this.folder);
    return names
      .filter((name) => name !== own)
      .map((name) => name.slice(own.length))
      .toSorted();
  }
}
