import { parentPort, workerData } from 'node:worker_threads';
import { type Batch, Filler } from './bulkload.ts';

// The thread of a transaction that fills tables: answers batches in order until it is told that there are no more.
const filler = new Filler(workerData as string);
parentPort?.on('message', (batch: Batch | null) => {
  if (batch !== null) return parentPort?.postMessage(filler.answer(batch));
  filler.close();
  parentPort?.close();
});
