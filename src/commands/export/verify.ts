import { VerifyCommand, verifyArguments, verifyFlags } from '../../cli/exporting/verifycommand.ts';

export default class ExportVerify extends VerifyCommand {
  static override summary = 'Check exported files against their receipts';
  static override description =
    'Reads each file and compares its bytes, its hash and its records with FILE.receipt.json beside it. The server is not contacted.';
  static override examples = [
    '<%= config.bin %> export verify patients.csv',
    '<%= config.bin %> export verify nightly/patients.csv nightly/transactions.csv --json',
  ];
  static override args = verifyArguments;
  static override flags = verifyFlags;
}
