import { basename, join } from 'node:path';
import { openFiles } from '../../../src/server/files/open.ts';
import { describeS3 } from '../../support/s3.ts';
import { testMaintenanceOfBucket } from '../maintenance/bucketpractice.ts';
import { testDocumentsInBucket } from './s3/bucketdocuments.ts';
import { testFilesOfBucket } from './s3/bucketfiles.ts';
import { testOpenedBuckets } from './s3/openedbuckets.ts';
import { testStoredFiles } from './storedfiles.ts';

// One server for all of them: to start it takes longer than most of what they ask it.
await describeS3('with a server of buckets', (s3) => {
  testStoredFiles('a bucket', (folder, data, shared) => {
    // The folder is one of the test's own, and so is its place in the bucket.
    return openFiles(`s3://${s3.bucket}/tests/${basename(folder)}`, join(folder, data), { shared });
  });
  testFilesOfBucket(s3);
  testDocumentsInBucket(s3);
  testOpenedBuckets(s3);
  testMaintenanceOfBucket(s3);
});
