import { transactions } from '../../catalog/resources/transactions.ts';
import { ListCommand, listFlags } from '../../cli/crud/listcommand.ts';

export default class TransactionsList extends ListCommand {
  static override summary = 'List transactions';
  static override description =
    'Without a date filter every transaction is listed: molar sends an early date bound, so that the server applies none of its own. --server-defaults leaves that to the server.';
  static override examples = [
    '<%= config.bin %> transactions list --from 2026-10-01 --to 2026-10-31 --location 1000000000001 --csv > october.csv',
    '<%= config.bin %> transactions list --patient 7000000000114 --fields id,transactionDate,ledgerType,amount',
  ];
  static override flags = listFlags(transactions);
  protected override readonly resource = transactions;
}
