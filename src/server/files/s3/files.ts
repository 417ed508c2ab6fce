import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import {
  type ByteRange,
  type Files,
  FilesUnavailable,
  nameOfPath,
  type StagedFile,
  type StoredFile,
  storagePath,
} from '../files.ts';
import { openStaging, type Staging } from '../staging.ts';
import { type BucketAddress, endpointOf, openClient, readAddress } from './client.ts';
import { bucketUnusable, isMissing, orUnavailable } from './failures.ts';
import { upload } from './upload.ts';

/** Files that are sent at the same time; each holds one part in memory. */
const CONCURRENT_UPLOADS = 8;

/**
 * Files in a bucket, named as on a disk, so that a folder can be copied there and back. They are staged in `uploads` of
 * the data folder and sent when they are persisted, before their record commits. The local file then stays, empty, until
 * the record is committed: should this server end in between, the next one knows what to finish.
 */
export async function openBucketFiles(text: string, dataFolder: string, shared: boolean): Promise<Files> {
  const address = readAddress(text);
  const client = await openClient(process.env);
  try {
    await probe(client, address);
    return new BucketFiles(client, address, await openStaging(join(dataFolder, 'uploads'), shared));
  } catch (error) {
    client.destroy();
    throw error;
  }
}

/** Listing needs the same permission as reading missing objects: without it, they look forbidden. */
async function probe(client: S3Client, { bucket, prefix }: BucketAddress): Promise<void> {
  try {
    await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }));
  } catch (error) {
    const endpoint = endpointOf(process.env);
    // Its origin alone: the address may contain credentials.
    throw bucketUnusable(error, bucket, endpoint === undefined ? 'Amazon S3' : new URL(endpoint).origin);
  }
}

class BucketFiles implements Files {
  private readonly client: S3Client;
  private readonly address: BucketAddress;
  private readonly staging: Staging;
  private readonly limit = pLimit(CONCURRENT_UPLOADS);
  /** Finished staged files of this process that were not sent to the bucket, not even in part. */
  private readonly local = new Map<string, StagedFile>();

  constructor(client: S3Client, address: BucketAddress, staging: Staging) {
    this.client = client;
    this.address = address;
    this.staging = staging;
  }

  async stage(name: string) {
    const stage = await this.staging.stage(name);
    return {
      write: (chunk: Uint8Array) => stage.write(chunk),
      discard: () => stage.discard(),
      finish: async () => {
        const staged = await stage.finish();
        this.local.set(name, staged);
        return staged;
      },
    };
  }

  async persist(names: readonly string[]): Promise<void> {
    // All of them end before a failure is reported: what is discarded then must not arrive later.
    const sent = await Promise.allSettled(names.map((name) => this.limit(() => this.send(name))));
    for (const one of sent) if (one.status === 'rejected') throw one.reason;
  }

  private async send(name: string): Promise<void> {
    const staged = this.local.get(name);
    if (staged === undefined) throw new Error('A file is persisted once, when it is staged.');
    this.local.delete(name);
    await orUnavailable(() => upload(this.client, this.at(name), staged));
    await truncate(staged.path);
  }

  async finalize(name: string): Promise<void> {
    await this.staging.drop(name);
  }

  async discard(name: string): Promise<void> {
    if (!(await this.staging.has(name))) return;
    try {
      // What an earlier process staged may have been sent.
      if (!this.local.delete(name)) await this.delete(name);
    } catch (error) {
      if (!(error instanceof FilesUnavailable)) throw error;
      // The local file stays, empty, and is found at a later start.
      return truncate(this.staging.path(name));
    }
    await this.staging.drop(name);
  }

  async size(name: string): Promise<number | undefined> {
    return orUnavailable(async () => {
      try {
        return (await this.client.send(new HeadObjectCommand(this.at(name)))).ContentLength;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
  }

  async open(name: string, range?: ByteRange): Promise<Readable> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    const { Body, ContentLength } = await orUnavailable(() =>
      this.client.send(new GetObjectCommand({ ...this.at(name), ...(Range && { Range }) })),
    );
    if (!(Body instanceof Readable)) throw new Error('The storage answered without a stream.');
    if (range !== undefined && ContentLength !== range.end - range.start + 1) {
      Body.destroy();
      throw new FilesUnavailable('RangeNotGiven', undefined);
    }
    return Body;
  }

  async remove(name: string): Promise<void> {
    this.local.delete(name);
    await this.delete(name);
    await this.staging.drop(name);
  }

  /** Removes an object, if it exists. */
  private async delete(name: string): Promise<void> {
    await orUnavailable(() => this.client.send(new DeleteObjectCommand(this.at(name))));
  }

  async *list(): AsyncGenerator<StoredFile> {
    const { bucket, prefix } = this.address;
    let from: string | undefined;
    do {
      const page = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: from });
      const { Contents = [], NextContinuationToken } = await orUnavailable(() => this.client.send(page));
      for (const { Key = '', Size = 0, LastModified } of Contents) {
        const name = nameOfPath(Key.slice(prefix.length));
        if (name !== undefined) yield { name, size: Size, modified: LastModified ?? new Date(0) };
      }
      from = NextContinuationToken;
    } while (from !== undefined);
  }

  leftovers(): Promise<string[]> {
    return this.staging.leftovers();
  }

  async close(): Promise<void> {
    this.client.destroy();
  }

  private at(name: string) {
    return { Bucket: this.address.bucket, Key: this.address.prefix + storagePath(name) };
  }
}
