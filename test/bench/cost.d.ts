interface Cost {
  readonly seconds: number;
  readonly cost: number;
}

export function costOfProcess(args: readonly string[], env: NodeJS.ProcessEnv, folder: string): Promise<Cost>;

export function costOfRunning(pid: number, folder: string, work: () => Promise<unknown>): Promise<Cost>;
