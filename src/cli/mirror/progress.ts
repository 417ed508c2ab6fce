import type { MirrorTable } from '../../core/mirror/tables.ts';
import type { Context } from '../context.ts';
import { periodicCollector } from '../process/memory.ts';
import { RowProgress } from '../terminal/progress.ts';

/** Shows how many records of the resource that is read have arrived, and says what could not be proved; `stop` ends it. */
export function readingProgress(context: Context, isQuiet: boolean, note: (line: string) => Promise<void>) {
  let shown: RowProgress | undefined;
  let records = 0;
  let all = 0;
  const collect = periodicCollector();
  return {
    onTable: ({ resource }: MirrorTable) => {
      void shown?.stop();
      records = 0;
      shown = new RowProgress(context, isQuiet, resource.many);
    },
    onRecords: (count: number) => {
      records += count;
      shown?.at(records);
      all += count;
      collect(all);
    },
    onUnproved: ({ resource }: MirrorTable, unproved: string) =>
      void note(`Could not prove that these are all ${resource.many}: ${unproved}`),
    stop: () => shown?.stop(),
  };
}
