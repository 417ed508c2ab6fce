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
import { type Files, FilesUnavailable, nameOfPath, type StagedFile, storagePath } from '../files.ts';
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
    return bucketFiles(client, address, await openStaging(join(dataFolder, 'uploads'), shared));
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

function bucketFiles(client: S3Client, { bucket, prefix }: BucketAddress, staging: Staging): Files {
  const limit = pLimit(CONCURRENT_UPLOADS);
  /** Finished staged files of this process that were not sent to the bucket, not even in part. */
  const local = new Map<string, StagedFile>();
  const at = (name: string) => ({ Bucket: bucket, Key: prefix + storagePath(name) });
  const send = async (name: string) => {
    const staged = local.get(name);
    if (staged === undefined) throw new Error('A file is persisted once, when it is staged.');
    local.delete(name);
    await orUnavailable(() => upload(client, at(name), staged));
    await truncate(staged.path);
  };
  const deleteObject = (name: string) => orUnavailable(() => client.send(new DeleteObjectCommand(at(name))));

  return {
    async stage(name) {
      const stage = await staging.stage(name);
      return {
        write: (chunk) => stage.write(chunk),
        discard: () => stage.discard(),
        async finish() {
          const staged = await stage.finish();
          local.set(name, staged);
          return staged;
        },
      };
    },
    async persist(names) {
      // All of them end before a failure is reported: what is discarded then must not arrive later.
      const sent = await Promise.allSettled(names.map((name) => limit(send, name)));
      for (const one of sent) if (one.status === 'rejected') throw one.reason;
    },
    finalize: staging.drop,
    async discard(name) {
      if (!(await staging.has(name))) return;
      try {
        // What an earlier process staged may have been sent.
        if (!local.delete(name)) await deleteObject(name);
      } catch (error) {
        if (!(error instanceof FilesUnavailable)) throw error;
        // The local file stays, empty, and is found at a later start.
        return truncate(staging.path(name));
      }
      await staging.drop(name);
    },
    async size(name) {
      return orUnavailable(async () => {
        try {
          return (await client.send(new HeadObjectCommand(at(name)))).ContentLength;
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw error;
        }
      });
    },
    async open(name, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      const request = new GetObjectCommand({ ...at(name), ...(Range && { Range }) });
      const { Body, ContentLength } = await orUnavailable(() => client.send(request));
      if (!(Body instanceof Readable)) throw new Error('The storage responded without a stream.');
      if (range !== undefined && ContentLength !== range.end - range.start + 1) {
        Body.destroy();
        throw new FilesUnavailable('RangeNotGiven', undefined);
      }
      return Body;
    },
    async remove(name) {
      local.delete(name);
      await deleteObject(name);
      await staging.drop(name);
    },
    async *list() {
      let from: string | undefined;
      do {
        const page = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: from });
        const { Contents = [], NextContinuationToken } = await orUnavailable(() => client.send(page));
        for (const { Key = '', Size = 0, LastModified } of Contents) {
          const name = nameOfPath(Key.slice(prefix.length));
          if (name !== undefined) yield { name, size: Size, modified: LastModified ?? new Date(0) };
        }
        from = NextContinuationToken;
      } while (from !== undefined);
    },
    leftovers: staging.leftovers,
    async close() {
      client.destroy();
    },
  };
}
