import { transactions } from '../../catalog/resources/transactions.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class TransactionsList extends listCommand(transactions) {
  static override examples = [
    '<%= config.bin %> transactions list --from 2026-10-01 --to 2026-10-31 --location 1000000000001 --out october.csv',
    '<%= config.bin %> transactions list --patient 7000000000114 --fields id,transactionDate,ledgerType,amount',
  ];
}
