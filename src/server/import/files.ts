import { randomUUID } from 'node:crypto';
import { Base64Decoder } from '../files/base64.ts';
import { type Files, fileName, type StagedFile } from '../files/files.ts';

/** Files that come with an import: staged and secured while it runs, kept when it commits, gone when it does not. */
export class ImportedFiles {
  private staged: string[] = [];
  /** Files of documents that the import replaced or deleted. */
  readonly replaced: string[] = [];
  readonly files: Files;

  constructor(files: Files) {
    this.files = files;
  }

  /** Stages base64 text; undefined when it is none, or empty. */
  async stage(content: string): Promise<StagedFile | undefined> {
    const decoder = new Base64Decoder();
    const body = decoder.push(content);
    const rest = decoder.end();
    if (body === undefined || rest === undefined || body.length + rest.length === 0) return undefined;
    const name = fileName(randomUUID(), 'original');
    this.staged.push(name);
    const stage = await this.files.stage(name);
    await stage.write(Buffer.concat([body, rest]));
    return stage.finish();
  }

  /** Removes a staged file that is not needed after all. */
  async drop(name: string): Promise<void> {
    this.staged = this.staged.filter((other) => other !== name);
    await this.files.discard(name);
  }

  /** Secures the files of one document: the staged one, and the variants made from it. */
  async secure(names: readonly string[]): Promise<void> {
    this.staged.push(...names.filter((name) => !this.staged.includes(name)));
    await this.files.persist(names);
  }

  /** After the commit. What fails to be kept now must not be discarded for that: the next start keeps it. */
  async keep(): Promise<void> {
    const staged = this.staged;
    this.staged = [];
    for (const name of staged) await this.files.finalize(name);
  }

  async discard(): Promise<void> {
    for (const name of this.staged) await this.files.discard(name);
  }
}
