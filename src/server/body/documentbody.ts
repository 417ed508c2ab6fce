import { Readable } from 'node:stream';
import { type Problem, refusal } from '../../catalog/failures.ts';
import { Base64Decoder } from '../files/base64.ts';
import type { Files, Stage, StagedFile } from '../files/files.ts';
import { parseJson, SMALL_BODY_BYTES } from './jsonbody.ts';
import { JsonSplitter, type StringSink } from './jsonsplit.ts';

/** The body of POST `/documents`: its JSON with `file.content` emptied, and the content decoded and staged. */
export class DocumentBody {
  constructor(
    readonly json: unknown,
    readonly content: StagedFile | undefined,
    /** Why the content was not accepted, if it was not. */
    readonly problem: Problem | undefined,
  ) {}
}

/** Maximum bytes of a complete body: base64 takes four for three, and 68 for 64 in lines that end with an escaped CR LF. */
export function documentBodyLimit(documentBytes: number): number {
  return Math.ceil(documentBytes * 1.42) + 2 * 1024 * 1024;
}

/**
 * Reads the body of POST `/documents` as it arrives: the file goes to disk and is never in memory as a whole. Throws a
 * Refusal for a body that is too large or no JSON; the staged file is removed then.
 */
export async function readDocumentBody(
  payload: AsyncIterable<Uint8Array>,
  files: Files,
  name: string,
  maxBytes: number,
): Promise<DocumentBody> {
  const sink = new ContentSink(files, name, maxBytes);
  const splitter = new JsonSplitter(['file', 'content'], sink);
  const limit = documentBodyLimit(maxBytes);
  let size = 0;
  try {
    // A request that is refused halfway stays open: destroyed, it could not be answered.
    const chunks = payload instanceof Readable ? payload.iterator({ destroyOnReturn: false }) : payload;
    for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      // White space in the content is ignored, and a body without a length could send it for ever.
      if (size > limit) throw refusal('body.too_large', 'body', `The body must not have more than ${limit} bytes.`);
      await splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      if (splitter.restBytes > SMALL_BODY_BYTES) {
        const description = `The body without the file must not have more than ${SMALL_BODY_BYTES} bytes.`;
        throw refusal('body.too_large', 'body', description);
      }
    }
    const json = parseJson(splitter.rest());
    if (splitter.found > 1) throw refusal('body.not_json', 'file.content', 'file.content is given more than once.');
    return new DocumentBody(json, await sink.finish(), sink.problem);
  } catch (error) {
    await sink.discard();
    // What still arrives is discarded, within the time of a request.
    if (payload instanceof Readable) payload.resume();
    throw error;
  }
}

/** Decoded bytes of what a connection delivers at once. */
const PIECE_BYTES = 48 * 1024;

class ContentSink implements StringSink {
  problem: Problem | undefined;
  private stage: Stage | undefined;
  private staged: StagedFile | undefined;
  private readonly decoder = new Base64Decoder();
  private size = 0;
  private tail = '';
  /** Decoded bytes are stored before the next piece arrives. */
  private buffer: Buffer | undefined;

  constructor(
    private readonly files: Files,
    private readonly name: string,
    private readonly maxBytes: number,
  ) {}

  async piece(bytes: Buffer): Promise<void> {
    if (this.problem !== undefined || bytes.length === 0) return;
    this.buffer ??= Buffer.allocUnsafeSlow(PIECE_BYTES);
    const digits = this.tail === '' ? this.decoder.pushDigits(bytes, this.buffer) : undefined;
    if (digits !== undefined) return this.store(digits);
    const piece = bytes.toString('latin1');
    // In JSON a line break inside a string must be escaped; the decoder would take a bare one for a break between lines.
    if (/[\t\n\r]/.test(piece))
      throw refusal('body.not_json', 'body', 'A line break in file.content must be written \\n.');
    await this.decode(this.unescape(piece));
  }

  async end(): Promise<void> {
    if (this.problem !== undefined) return;
    if (this.tail !== '') this.refuse();
    const last = this.decoder.end();
    if (last === undefined) this.refuse();
    else await this.store(last);
  }

  async finish(): Promise<StagedFile | undefined> {
    if (this.problem !== undefined || this.stage === undefined) {
      await this.discard();
      return undefined;
    }
    this.staged = await this.stage.finish();
    return this.staged;
  }

  async discard(): Promise<void> {
    await this.stage?.discard();
  }

  private async decode(text: string): Promise<void> {
    const bytes = this.decoder.push(text);
    if (bytes === undefined) this.refuse();
    else await this.store(bytes);
  }

  private async store(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    this.size += bytes.length;
    if (this.size > this.maxBytes) {
      throw refusal('body.too_large', 'file.content', `A document must not have more than ${this.maxBytes} bytes.`);
    }
    this.stage ??= await this.files.stage(this.name);
    await this.stage.write(bytes);
  }

  /** JSON escapes that occur in base64: `\/`, line breaks and, from some encoders, `\u002b`. */
  private unescape(piece: string): string {
    let text = this.tail + piece;
    this.tail = '';
    if (!text.includes('\\')) return text;
    const cut = /\\(u[0-9a-fA-F]{0,3})?$/.exec(text);
    if (cut !== null) {
      this.tail = cut[0];
      text = text.slice(0, cut.index);
    }
    return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code?: string, char?: string) =>
      code === undefined ? (ESCAPES[char ?? ''] ?? '\\') : String.fromCharCode(Number.parseInt(code, 16)),
    );
  }

  private refuse(): void {
    this.problem = {
      code: 'file.content',
      source: 'file.content',
      description: 'file.content is not base64: use the standard alphabet with padding (RFC 4648).',
    };
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '/': '/', n: '\n', r: '\r', t: '\t' };
