import { useQuery } from "@tanstack/react-query";
import { Redirect, useParams } from "wouter";
import { api } from "../api/client";
import { useKey } from "../app/session";
import { Page } from "../ui/Page";
import { Failure, Skeleton } from "../ui/States";
import { catalogue } from "../words/catalogue";
import { pageOf } from "./place";

const words = catalogue({ title: "Job", jobs: "Jobs" });

const trail = [{ name: words.jobs, to: "/jobs" }];

/** Job leads to the page that shows one job with its result. */
export default function Job() {
	const { id = "" } = useParams();
	const key = useKey();
	const job = useQuery({ queryKey: key("job", id), queryFn: ({ signal }) => api("GET /jobs/{id}", { path: { id }, signal }) });
	if (job.data) return <Redirect to={pageOf(job.data)} replace />;
	return (
		<Page title={words.title} trail={trail} gone={job.isError}>
			{job.isError ? <Failure error={job.error} retry={() => void job.refetch()} /> : <Skeleton rows={6} />}
		</Page>
	);
}
