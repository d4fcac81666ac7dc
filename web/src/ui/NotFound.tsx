import { ApiError } from "../api/client";
import { catalogue } from "../base/words/catalogue";
import { LinkButton } from "./Button";
import { UnsavedWork } from "./UnsavedWork";
import { Page } from "./Page";
import { SearchButton } from "./SearchButton";
import { Empty, Failure, Skeleton } from "./States";

const words = catalogue("shell.missing", {
	title: "This no longer exists",
	text: "The record was deleted, or the address is wrong.",
	back: "Back to {name}",
});

type UnsavedInput = { kinds: string[]; id: string };

type Props = {
	/** How the record is read. */
	query: { error: Error | null; refetch: () => unknown };
	/** The list that it is one of. */
	list: string;
	to: string;
	breadcrumbs?: { name: string; to: string }[];
	/** What of it may be kept unsaved: the kinds of working copies, and the id. */
	unsavedInput?: UnsavedInput;
};

/** isGone is true if the record does not exist, or its address is none. */
export function isGone(error: Error | null): boolean {
	return error instanceof ApiError && (error.status === 404 || error.status === 400);
}

/**
 * NotFound is the page of a record that is not there: it is loaded, could not be loaded, or does not exist any more. A
 * record that was read once stays on the page when a later reading fails.
 */
export function NotFound({ query, list, to, breadcrumbs = [{ name: list, to }], unsavedInput }: Props) {
	if (isGone(query.error)) return <DeletedRecord list={list} to={to} unsavedInput={unsavedInput} />;
	if (query.error) {
		return (
			<Page title={list} breadcrumbs={breadcrumbs}>
				<Failure error={query.error} retry={() => void query.refetch()} />
			</Page>
		);
	}
	return (
		<Page title=" " breadcrumbs={breadcrumbs}>
			<Skeleton rows={10} />
		</Page>
	);
}

/** Gone is the page of a record that does not exist. It shows what of it was kept unsaved. */
function DeletedRecord({ list, to, unsavedInput }: { list: string; to: string; unsavedInput?: UnsavedInput }) {
	return (
		<Page title={words.title} breadcrumbs={[{ name: list, to }]} notFound>
			<Empty
				action={
					<>
						<LinkButton to={to}>{words.back({ name: list })}</LinkButton>
						<SearchButton />
					</>
				}
			>
				{words.text}
			</Empty>
			{unsavedInput && <UnsavedWork {...unsavedInput} />}
		</Page>
	);
}
