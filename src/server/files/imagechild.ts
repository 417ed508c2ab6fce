import { setPriority } from 'node:os';
import { type ImageTask, workOnImage } from './imagework.ts';

// The process that works on images (`ImageProcess`). Requests come before images where there is one core for both.
const NICE = 10;
setPriority(NICE);
process.umask(0o077);
// They go to all processes of a terminal or a service: it is the server that says when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', async ({ id, task }: { id: number; task: ImageTask }) => {
  process.send?.({ id, reply: await workOnImage(task) });
});
