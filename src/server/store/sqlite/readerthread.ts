import { parentPort, workerData } from 'node:worker_threads';
import { SideReader, type SideStatement } from './sidereader.ts';

// The thread of statements that may take long: replies in order, until null ends it.
const reader = new SideReader(workerData as string);
parentPort?.on('message', (statement: SideStatement | undefined | null) => {
  if (statement !== null) return parentPort?.postMessage(reader.reply(statement));
  reader.close();
  parentPort?.close();
});
