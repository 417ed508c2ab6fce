import { parentPort, workerData } from 'node:worker_threads';
import { type Batch, BulkLoader } from './bulkload.ts';

// The thread of a bulk load: replies to batches in order, until null ends it.
const bulkLoad = new BulkLoader(workerData as string);
parentPort?.on('message', (batch: Batch | null) => {
  if (batch !== null) return parentPort?.postMessage(bulkLoad.reply(batch));
  bulkLoad.close();
  parentPort?.close();
});
