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
import type { StagedFile } from '../files.ts';
import { BODY_MS } from './client.ts';

/** Bytes of one part, the maximum of a file that is held in memory. 10,000 parts, S3's limit, make 80 GiB. */
const PART_BYTES = 8 * 1024 * 1024;

const BODY_TIMEOUT = { requestTimeout: BODY_MS } as const;

interface ObjectKey {
  readonly Bucket: string;
  readonly Key: string;
}

type LocalFile = Pick<StagedFile, 'path' | 'size' | 'sha256'>;

/**
 * Stores a local file under a key, all of it or nothing. Each request's body is signed with its SHA-256, so that the
 * storage refuses what was damaged on the way; read from the disk, the bytes must be those that were hashed as they
 * arrived; and the object must have their number in the end.
 */
export async function upload(client: S3Client, object: ObjectKey, file: LocalFile): Promise<void> {
  const handle = await open(file.path, 'r');
  try {
    if (file.size > PART_BYTES) await uploadParts(client, object, file, handle);
    else await uploadAtOnce(client, object, file, handle);
  } finally {
    await handle.close();
  }
  const { ContentLength: stored } = await client.send(new HeadObjectCommand(object));
  if (stored !== file.size) throw damaged(`${stored} of ${file.size} bytes were stored`);
}

async function uploadAtOnce(client: S3Client, object: ObjectKey, file: LocalFile, handle: FileHandle): Promise<void> {
  const reader = new PartReader(handle, file.size);
  const body = await reader.next();
  reader.check(file);
  await client.send(new PutObjectCommand({ ...object, Body: body, ContentLength: body.length }), BODY_TIMEOUT);
}

/** The object appears with the response to the last request, and not before. */
async function uploadParts(client: S3Client, object: ObjectKey, file: LocalFile, handle: FileHandle): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(object));
  try {
    const reader = new PartReader(handle, PART_BYTES);
    const parts: CompletedPart[] = [];
    for (let body = await reader.next(); body.length > 0; body = await reader.next()) {
      const PartNumber = parts.length + 1;
      const part = { ...object, UploadId, PartNumber, Body: body, ContentLength: body.length };
      const { ETag } = await client.send(new UploadPartCommand(part), BODY_TIMEOUT);
      parts.push({ ETag, PartNumber });
    }
    reader.check(file);
    const complete = { ...object, UploadId, MultipartUpload: { Parts: parts } };
    await client.send(new CompleteMultipartUploadCommand(complete), BODY_TIMEOUT);
  } catch (error) {
    // What cannot be aborted now, the bucket's rule for unfinished uploads removes.
    await client.send(new AbortMultipartUploadCommand({ ...object, UploadId })).catch(() => undefined);
    throw error;
  }
}

/** Reads a file part by part into one buffer, and hashes what it reads. */
class PartReader {
  private readonly buffer: Buffer;
  private readonly hash = createHash('sha256');
  private size = 0;

  constructor(
    private readonly handle: FileHandle,
    bytes: number,
  ) {
    this.buffer = Buffer.allocUnsafe(bytes);
  }

  /** The next part, full unless it is the last, empty at the end; valid until the next call. */
  async next(): Promise<Buffer> {
    let filled = 0;
    while (filled < this.buffer.length) {
      const { bytesRead } = await this.handle.read(this.buffer, filled, this.buffer.length - filled, this.size);
      if (bytesRead === 0) break;
      filled += bytesRead;
      this.size += bytesRead;
    }
    const part = this.buffer.subarray(0, filled);
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
