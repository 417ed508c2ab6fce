import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { BODY_MS } from './client.ts';

/** Bytes of one part, the most of a file that is held in memory. 10,000 parts, S3's limit, make 80 GiB. */
const PART_BYTES = 8 * 1024 * 1024;

const PATIENT = { requestTimeout: BODY_MS } as const;

interface Place {
  readonly Bucket: string;
  readonly Key: string;
}

/** A local file, and what is known of it. */
interface LocalFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/**
 * Stores a local file under a key, all of it or nothing. Each request's body is signed with its SHA-256, so that the
 * storage refuses what was damaged on the way; read from the disk, the bytes must be those that were hashed as they
 * arrived; and the object must have their number in the end.
 */
export async function upload(client: S3Client, place: Place, file: LocalFile): Promise<void> {
  const handle = await open(file.path, 'r');
  try {
    if (file.size > PART_BYTES) await uploadParts(client, place, file, handle);
    else await uploadWhole(client, place, file, handle);
  } finally {
    await handle.close();
  }
  const { ContentLength: stored } = await client.send(new HeadObjectCommand(place));
  if (stored !== file.size) throw damaged(`${stored} of ${file.size} bytes were stored`);
}

async function uploadWhole(client: S3Client, place: Place, file: LocalFile, handle: FileHandle): Promise<void> {
  const reader = new PartReader(handle, file.size);
  const body = await reader.next();
  reader.check(file);
  await client.send(new PutObjectCommand({ ...place, Body: body, ContentLength: body.length }), PATIENT);
}

/** The object appears when the last request is answered, and not before. */
async function uploadParts(client: S3Client, place: Place, file: LocalFile, handle: FileHandle): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(place));
  try {
    const reader = new PartReader(handle, PART_BYTES);
    const parts: CompletedPart[] = [];
    for (let body = await reader.next(); body.length > 0; body = await reader.next()) {
      const PartNumber = parts.length + 1;
      const part = { ...place, UploadId, PartNumber, Body: body, ContentLength: body.length };
      const { ETag } = await client.send(new UploadPartCommand(part), PATIENT);
      parts.push({ ETag, PartNumber });
    }
    reader.check(file);
    const complete = { ...place, UploadId, MultipartUpload: { Parts: parts } };
    await client.send(new CompleteMultipartUploadCommand(complete), PATIENT);
  } catch (error) {
    // What cannot be taken back now, the bucket's rule for unfinished uploads ends.
    await client.send(new AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => undefined);
    throw error;
  }
}

/** Reads a file part by part into one piece of memory, and hashes what it reads. */
class PartReader {
  private readonly handle: FileHandle;
  private readonly memory: Buffer;
  private readonly hash = createHash('sha256');
  private size = 0;

  constructor(handle: FileHandle, bytes: number) {
    this.handle = handle;
    this.memory = Buffer.allocUnsafe(bytes);
  }

  /** The next part: whole unless it is the last; empty at the end. Good until the next call. */
  async next(): Promise<Buffer> {
    let filled = 0;
    while (filled < this.memory.length) {
      const { bytesRead } = await this.handle.read(this.memory, filled, this.memory.length - filled, this.size);
      if (bytesRead === 0) break;
      filled += bytesRead;
      this.size += bytesRead;
    }
    const part = this.memory.subarray(0, filled);
    this.hash.update(part);
    return part;
  }

  check(file: LocalFile): void {
    if (this.size !== file.size || this.hash.digest('hex') !== file.sha256) {
      throw damaged('the staged file is not what arrived');
    }
  }
}

function damaged(what: string): Error {
  return Object.assign(new Error(`An upload was damaged: ${what}.`), { code: 'UPLOAD_DAMAGED' });
}
