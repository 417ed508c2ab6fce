import { transactions } from '../../catalog/resources/transactions.ts';
import { getCommand } from '../../cli/crud/readcommands.ts';

export default class TransactionsGet extends getCommand(transactions, 9000000000001) {}
