import { parentPort, workerData } from 'node:worker_threads';
import { SideReader, type SideStatement } from './sidereader.ts';

// The thread of statements that may take long: replies in order.
const reader = new SideReader(workerData as string);
parentPort?.on('message', (statement: SideStatement | undefined) => parentPort?.postMessage(reader.reply(statement)));
