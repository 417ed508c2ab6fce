import { transactions } from '../../catalog/resources/transactions.ts';
import { CountCommand, countFlags } from '../../cli/crud/countcommand.ts';

export default class TransactionsCount extends CountCommand {
  static override summary = 'Count transactions';
  static override description =
    'Without a date filter every transaction is counted: molar sends an early date bound, so that the server applies none of its own. --server-defaults leaves that to the server.';
  static override examples = [
    '<%= config.bin %> transactions count --location 1000000000001',
    '<%= config.bin %> transactions count --from 2026-01-01 --ledger-type InsurancePayment',
  ];
  static override flags = countFlags(transactions);
  protected override readonly resource = transactions;
}
