import { useQuery } from "@tanstack/react-query";
import { Redirect, useParams } from "wouter";
import { api } from "../../api/client";
import { useKey } from "../../base/session";
import { Missing } from "../../ui/Missing";
import { catalogue } from "../../base/words/catalogue";
import { pageOf } from "./place";

const words = catalogue("jobs.job", { jobs: "Jobs" });

/** Job leads to the page that shows one job with its result. */
export default function Job() {
	const { id = "" } = useParams();
	const key = useKey();
	const job = useQuery({
		queryKey: key("job", id),
		queryFn: ({ signal }) => api("GET /jobs/{id}", { path: { id }, signal }),
	});
	return job.data ? <Redirect to={pageOf(job.data)} replace /> : <Missing query={job} list={words.jobs} to="/jobs" />;
}
