import { DemoCommand } from '../cli/serving/demo/democommand.ts';

export default class Demo extends DemoCommand {
  static override summary = 'Show a working day: real commands against an embedded server with synthetic data';
  static override description =
    'Starts the server on a free port of this machine with a synthetic practice in a temporary folder, runs commands against it, and removes everything.';
  static override examples = ['<%= config.bin %> demo', '<%= config.bin %> demo --keep'];
}
