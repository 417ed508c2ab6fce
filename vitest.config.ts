import { defaultExclude, defineConfig } from 'vitest/config';
import { filesWithMore, filesWithoutStore } from './test/support/needs.ts';
import { seedOfCommit } from './test/support/order.ts';
import { testPostgres } from './test/support/services.ts';

const SECOND = 1000;

/** To start again after every cut of the power takes hours. */
const ACCEPTANCE_SECONDS = process.env.MOLAR_POWERCUT === 'everywhere' ? 24 * 3600 : 600;

const SERVER = ['audit', 'budgets', 'events', 'import', 'recurrence', 'reports', 'resources', 'stream'];

/**
 * Groups follow each other without a pause, in the order of their names, so that the long files of `acceptance` come first
 * and the short ones of `unit` last. What can tell one store from another runs on both; where there is no PostgreSQL that
 * is said, and in CI it is a failure.
 */
export default defineConfig(async () => ({
  test: {
    reporters: ['default', './test/support/reporter.ts'],
    // The seed is printed; `--sequence.seed` takes another.
    sequence: { shuffle: { tests: true }, seed: seedOfCommit() },
    globalSetup: './test/support/setup.ts',
    setupFiles: './test/support/worker.ts',
    // What one group has compiled, the others and the next run find on disk; `vitest --clearCache` empties it.
    experimental: { fsModuleCache: true },
    // Under load, to remove what a run has made takes a while.
    teardownTimeout: 60 * SECOND,
    // On two cores: a file keeps one busy for half of its time, and waits for the disk and for other processes otherwise.
    maxWorkers: 4,
    projects: [
      project('unit', ['test/**/*.test.ts'], { seconds: 240, exclude: [...ALONE, ...OWN_GROUP, ...INTEGRATION] }),
      project('alone', ALONE, { seconds: 900, isolate: true }),
      project('integration', INTEGRATION, { seconds: 240, exclude: [...ALONE, ...OWN_GROUP] }),
      project('acceptance', ['test/acceptance/**/*.test.ts'], { seconds: ACCEPTANCE_SECONDS }),
      ...((await testPostgres()) === undefined ? [] : [onPostgres]),
    ],
  },
}));

/**
 * What measures the memory of its process, has a broker of its own, or lives on virtual time; none asks anything of a
 * store.
 */
const ALONE = ['test/server/stream/{crowd,relay/rabbitmq}.test.ts', 'test/simulation/days.test.ts'];

/** The first is a group; the others have configurations of their own. */
const OWN_GROUP = ['test/{acceptance,torture,windows}/**'];

/** What has a store, a server or another program. Everything else is in the group `unit`, so that a new folder is in one. */
const INTEGRATION = [
  'test/{contract,faithful}/**/*.test.ts',
  // The command starts programs, not the test.
  'test/cli/serving/demo.test.ts',
  ...filesWithMore(),
];

const SAME_ON_BOTH = [
  // What shapes an answer asks nothing of a store that other files do not ask.
  'test/contract/{success,responsefields,filtererrors,bodies,ratelimit}.test.ts',
  // Each of their tests names its store, or has none.
  'test/server/audit/{adoption,chainwalk,checkpoints,keeper,shipper,shipping,targets}.test.ts',
  'test/server/stream/{epochs,retention,relay/twoservers}.test.ts',
  'test/server/{budgets/answers,import/staged/limits,store/heavy,store/migrations/steps}.test.ts',
  // Pauses, leases and sockets that are as the test says.
  'test/server/stream/{listener,deliveryturns,relay/endings,relay/pauses}.test.ts',
  // What they decide, they decide before they ask; every statement that they have run, other files of the group have run
  // too (recorded on 28 November 2026: 2,930 statements, leaving out numbers and how many values they take).
  'test/server/events/!(listing).test.ts',
  'test/server/resources/!(transactions|twopractices).test.ts',
  'test/server/reports/{aging/amounts,aging/demo,aging/within,openings/openings,openings/query}.test.ts',
  'test/server/reports/production/{delivery,query}.test.ts',
  'test/server/{budgets/fairness,budgets/images,import/audited,import/lines,import/runs}.test.ts',
  'test/server/stream/{formats,imports,organizations,route,series}.test.ts',
  // The same, recorded on 29 November 2026.
  'test/contract/{access,async,auditmodes,clients,etag,http,paging,values}.test.ts',
  'test/server/audit/commands.test.ts',
  'test/server/import/{corrections,deletions,order}.test.ts',
  'test/server/reports/openings/generated.test.ts',
];

const onPostgres = project(
  'postgres',
  // Below test/server/store each store has a folder of its own, that needs no telling.
  [
    'test/contract/*.test.ts',
    'test/server/store/{,migrations/}*.test.ts',
    `test/server/{${SERVER.join(',')}}/**/*.test.ts`,
  ],
  {
    seconds: 360,
    env: { MOLAR_TEST_STORE: 'postgres' },
    exclude: [...ALONE, ...SAME_ON_BOTH, ...filesWithoutStore()],
  },
);

interface Settings {
  /** What a test, or what is done before it, may take: so that one that hangs ends, on a machine ten times too busy. */
  readonly seconds: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly exclude?: readonly string[];
  /** Whether each file has a process of its own; to load the sources anew takes nearly as long as its tests. */
  readonly isolate?: boolean;
}

function project(name: string, include: string[], settings: Settings) {
  const { seconds, env = {}, exclude = [], isolate = false } = settings;
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude: [...defaultExclude, ...exclude],
      // Times in tables are those of the computer; tests about other zones name them.
      env: { TZ: 'UTC', ...env },
      isolate,
      testTimeout: seconds * SECOND,
      hookTimeout: seconds * SECOND,
      expect: { poll: { timeout: 60 * SECOND } },
    },
  };
}
